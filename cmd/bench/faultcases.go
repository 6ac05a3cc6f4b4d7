package main

import (
	"context"
	"time"

	"nearglass/cc/rate"
	"nearglass/cc/sim"
	"nearglass/cmd/bench/wire"
	"nearglass/telemetry/doctor"
)

// faultCase is a fault of one severity in a real stream.
type faultCase struct {
	name   string
	fault  doctor.Fault   // to be named first; empty for a healthy stream
	or     []doctor.Fault // which are right as well, where two are there
	quick  bool
	every  time.Duration // between two pictures of the source; 0: hardly any
	shape  wire.Shape
	args   []string // of serve
	prefix []string // that starts the host
	script string   // that the viewer's page runs first
	beside bool     // there is a second, shorter road between the ends
	inject func(ctx context.Context, r *faultRun) error
}

// full is the time between two pictures at full motion.
const full = time.Second / fps

// path is a link of that rate, with a queue of so many milliseconds.
func path(mbps float64, oneWay, queue time.Duration) wire.Shape {
	return wire.Shape{
		Forward: sim.LinkConfig{Rates: []sim.Step{{Rate: rate.Rate(mbps * 1e6)}}, Delay: oneWay, Queue: sim.Queue{Limit: queue}},
		Back:    sim.LinkConfig{Delay: oneWay}, Seed: 7,
	}
}

var home = path(25, 8*time.Millisecond, 250*time.Millisecond)

func lossy(percent float64) wire.Shape {
	s := home
	s.Forward.Loss = sim.Loss{Random: percent / 100}
	return s
}

func away(length, every time.Duration) wire.Shape {
	s := home
	s.Forward.Outages = sim.Outages{Length: length, Every: every, From: 3 * time.Second}
	s.Back.Outages = s.Forward.Outages
	s.Back.Rates = []sim.Step{{Rate: 50 * rate.Mbps}}
	return s
}

var faultCases = []faultCase{
	{name: "healthy motion", quick: true, every: full, shape: home},
	{name: "healthy still", every: 0, shape: home},
	{name: "healthy film", every: time.Second / 24, shape: home},
	{name: "healthy far", every: full, shape: path(15, 30*time.Millisecond, 250*time.Millisecond)},
	{name: "healthy very far", every: full, shape: path(20, 110*time.Millisecond, 250*time.Millisecond)},
	{name: "healthy very far still", every: 0, shape: path(3, 125*time.Millisecond, 250*time.Millisecond)},
	{name: "healthy glance away", every: full, shape: home, inject: hide(6*time.Second, 4*time.Second)},
	{name: "lossy link 2", fault: doctor.LossyLink, every: full, shape: lossy(2)},
	{name: "lossy link 5", quick: true, fault: doctor.LossyLink, every: full, shape: lossy(5)},
	{name: "lossy link 10", fault: doctor.LossyLink, every: full, shape: lossy(10)},
	{name: "capped link 1", fault: doctor.CappedLink, every: full, shape: path(1, 8*time.Millisecond, 250*time.Millisecond)},
	{name: "capped link 1.7", fault: doctor.CappedLink, every: full, shape: path(1.7, 40*time.Millisecond, 250*time.Millisecond)},
	{name: "capped link 0.6", quick: true, fault: doctor.CappedLink, every: full, shape: path(0.6, 8*time.Millisecond, 250*time.Millisecond)},
	{name: "capped link 0.35", fault: doctor.CappedLink, every: full, shape: path(0.35, 8*time.Millisecond, 250*time.Millisecond)},
	{name: "competing traffic 1", fault: doctor.CompetingTraffic, every: full, shape: path(8, 8*time.Millisecond, 130*time.Millisecond), inject: bulk(1)},
	{name: "competing traffic 3", fault: doctor.CompetingTraffic, every: full, shape: path(8, 8*time.Millisecond, 130*time.Millisecond), inject: bulk(3)},
	{name: "bufferbloat 600", fault: doctor.Bufferbloat, every: full, shape: path(8, 8*time.Millisecond, 600*time.Millisecond), inject: bulk(1)},
	{name: "bufferbloat 1500", fault: doctor.Bufferbloat, every: full, shape: path(8, 8*time.Millisecond, 1500*time.Millisecond), inject: bulk(1)},
	{name: "bufferbloat 1000", fault: doctor.Bufferbloat, every: full, shape: path(5, 20*time.Millisecond, time.Second), inject: bulk(2)},
	{name: "flapping wifi 180", fault: doctor.FlappingWiFi, every: full, shape: away(180*time.Millisecond, 2500*time.Millisecond)},
	{name: "flapping wifi 350", fault: doctor.FlappingWiFi, every: full, shape: away(350*time.Millisecond, 3*time.Second)},
	{name: "flapping wifi 120", fault: doctor.FlappingWiFi, every: full, shape: away(120*time.Millisecond, 1800*time.Millisecond)},
	{name: "mtu trouble 1100", fault: doctor.MTUTrouble, every: full, shape: home, inject: tunnel(4*time.Second, 1100)},
	{name: "mtu trouble 700", fault: doctor.MTUTrouble, every: full, shape: home, inject: tunnel(4*time.Second, 700)},
	{name: "mtu trouble 900 from the start", fault: doctor.MTUTrouble, every: full, shape: home, inject: tunnel(0, 900)},
	{name: "cpu starved 2", fault: doctor.CPUStarved, every: full, shape: home, prefix: []string{"taskset", "-c", "0"}, inject: spin(2, 0)},
	{name: "cpu starved 6", quick: true, fault: doctor.CPUStarved, every: full, shape: home, prefix: []string{"taskset", "-c", "0"}, inject: spin(6, 0)},
	{name: "cpu starved 4", fault: doctor.CPUStarved, every: full, shape: home, prefix: []string{"taskset", "-c", "0"}, inject: spin(4, 0)},
	{name: "encoder overload", fault: doctor.EncoderOverload, every: full, shape: home, args: []string{"--preset", "medium"}, prefix: []string{"taskset", "-c", "0"}},
	{name: "encoder overload fast", fault: doctor.EncoderOverload, every: full, shape: home, args: []string{"--preset", "fast"}, prefix: []string{"taskset", "-c", "0"}},
	{name: "encoder overload sharp", fault: doctor.EncoderOverload, every: full, shape: home, args: []string{"--preset", "medium", "--qp", "12"}, prefix: []string{"taskset", "-c", "0"}},
	{name: "stalled capture 2", fault: doctor.StalledCapture, every: full, shape: home, inject: stall(8*time.Second, 2*time.Second)},
	{name: "stalled capture 6", fault: doctor.StalledCapture, every: full, shape: home, inject: stall(8*time.Second, 6*time.Second)},
	{name: "stalled capture 11", fault: doctor.StalledCapture, every: 0, shape: home, inject: stall(5*time.Second, 11*time.Second)},
	{name: "slow source 120", fault: doctor.SlowSource, every: 120 * time.Millisecond, shape: home},
	{name: "slow source 300", fault: doctor.SlowSource, every: 300 * time.Millisecond, shape: home},
	{name: "slow source 550", fault: doctor.SlowSource, every: 550 * time.Millisecond, shape: home},
	{name: "viewer background", fault: doctor.ViewerBackground, every: full, shape: home, inject: hide(5*time.Second, 12*time.Second)},
	{name: "viewer background 9", fault: doctor.ViewerBackground, every: full, shape: home, inject: hide(5*time.Second, 9*time.Second)},
	{name: "viewer background 16", fault: doctor.ViewerBackground, every: 0, shape: home, inject: hide(4*time.Second, 16*time.Second)},
	{name: "wrong path 60", fault: doctor.WrongPath, every: time.Second / 24, shape: path(25, 30*time.Millisecond, 250*time.Millisecond), beside: true, script: shun},
	{name: "wrong path 80", fault: doctor.WrongPath, every: time.Second / 24, shape: path(10, 40*time.Millisecond, 250*time.Millisecond), beside: true, script: shun},
	{name: "wrong path 200", fault: doctor.WrongPath, every: 0, shape: path(25, 100*time.Millisecond, 250*time.Millisecond), beside: true, script: shun},
	{name: "slow decoder", fault: doctor.SlowDecoder, or: []doctor.Fault{doctor.ViewerThrottled}, every: full, shape: home, inject: slowThreads("ThreadPool", 2)},
	{name: "slow decoder 1", fault: doctor.SlowDecoder, or: []doctor.Fault{doctor.ViewerThrottled}, every: full, shape: home, inject: slowThreads("ThreadPool", 1)},
	{name: "slow decoder 4", fault: doctor.SlowDecoder, or: []doctor.Fault{doctor.ViewerThrottled}, every: full, shape: home, inject: slowThreads("ThreadPool", 4)},
	{name: "viewer throttled 30", fault: doctor.ViewerThrottled, every: full, shape: home, inject: limp(6*time.Second, 30)},
	{name: "viewer throttled 60", fault: doctor.ViewerThrottled, every: full, shape: home, inject: limp(6*time.Second, 60)},
	{name: "viewer throttled 20", fault: doctor.ViewerThrottled, every: full, shape: home, inject: limp(6*time.Second, 20)},
	{name: "viewer frozen 4", fault: doctor.ViewerThrottled, every: full, shape: home, inject: freezeViewer(8*time.Second, 4*time.Second)},
	{name: "viewer frozen 2", fault: doctor.ViewerThrottled, every: full, shape: home, inject: freezeViewer(8*time.Second, 2*time.Second)},
	{name: "host frozen 5", fault: doctor.HostAsleep, every: full, shape: home, inject: freezeHost(8*time.Second, 5*time.Second)},
	{name: "host frozen 2", fault: doctor.HostAsleep, every: full, shape: home, inject: freezeHost(8*time.Second, 2*time.Second)},
	{name: "host frozen 11", fault: doctor.HostAsleep, every: 0, shape: home, inject: freezeHost(5*time.Second, 11*time.Second)},
	{name: "viewer clock jump", fault: doctor.ClockJump, every: full, shape: home, inject: setClock(8*time.Second, time.Hour)},
	{name: "viewer clock back", fault: doctor.ClockJump, every: 0, shape: home, inject: setClock(8*time.Second, -3*time.Second)},
	{name: "host clock jump 60", fault: doctor.ClockJump, every: full, shape: home, inject: setHostClock(8*time.Second, time.Minute)},
	{name: "host clock jump 7200", fault: doctor.ClockJump, every: 0, shape: home, inject: setHostClock(8*time.Second, 2*time.Hour)},
	{name: "host clock back 2", fault: doctor.ClockJump, every: full, shape: home, inject: setHostClock(8*time.Second, -2*time.Second)},
	{name: "key frame storm 350", fault: doctor.KeyFrameStorm, every: full, shape: home, script: asker, inject: storm(350 * time.Millisecond)},
	{name: "key frame storm 900", fault: doctor.KeyFrameStorm, every: full, shape: home, script: asker, inject: storm(900 * time.Millisecond)},
	{name: "key frame storm 2500", fault: doctor.KeyFrameStorm, every: full, shape: home, script: asker, inject: storm(2500 * time.Millisecond)},

	{name: "lossy link 4 and cpu starved 6", fault: doctor.LossyLink, or: []doctor.Fault{doctor.CPUStarved}, every: full, shape: lossy(4),
		prefix: []string{"taskset", "-c", "0"}, inject: spin(6, 0)},
	{name: "capped link 0.8 and stalled capture 4", fault: doctor.CappedLink, or: []doctor.Fault{doctor.StalledCapture}, every: full,
		shape: path(0.8, 20*time.Millisecond, 250*time.Millisecond), inject: stall(9*time.Second, 4*time.Second)},
	{name: "lossy link 3 and key frame storm 700", fault: doctor.LossyLink, or: []doctor.Fault{doctor.KeyFrameStorm}, every: full, shape: lossy(3),
		script: asker, inject: storm(700 * time.Millisecond)},
	{name: "slow source 200 and competing traffic 2", fault: doctor.SlowSource, or: []doctor.Fault{doctor.CompetingTraffic}, every: 200 * time.Millisecond,
		shape: path(6, 15*time.Millisecond, 130*time.Millisecond), inject: bulk(2)},
	{name: "lossy link 6 and viewer throttled 30", fault: doctor.LossyLink, or: []doctor.Fault{doctor.ViewerThrottled}, every: full, shape: lossy(6),
		inject: limp(6*time.Second, 30)},
	{name: "flapping wifi 250 and viewer background", fault: doctor.FlappingWiFi, or: []doctor.Fault{doctor.ViewerBackground}, every: full,
		shape: away(250*time.Millisecond, 2200*time.Millisecond), inject: hide(12*time.Second, 8*time.Second)},
	{name: "mtu trouble 1000 and host frozen 3", fault: doctor.MTUTrouble, or: []doctor.Fault{doctor.HostAsleep}, every: full, shape: home,
		inject: both(tunnel(4*time.Second, 1000), freezeHost(13*time.Second, 3*time.Second))},
}
