package telemetry

import (
	"testing"
	"time"
)

func TestSnapshotAveragesOverAboutASecond(t *testing.T) {
	start := time.Unix(100, 0)
	m := NewMeter(start)
	now := start
	for range 60 {
		now = now.Add(time.Second / 60)
		m.Encoded(now, Picture{
			Width: 640, Height: 360, QP: 24, PSNR: 41.5, Convert: time.Millisecond, Encode: 4 * time.Millisecond,
			SizeBytes: 1250, BudgetBytes: 2000, BudgetKbps: 900, Capped: true,
		})
		m.Sent(now, 1250, false, false)
	}
	m.Sent(now, 1250, true, false)
	s := m.Snapshot(now.Add(time.Millisecond))
	if s.Encoded != 60 || s.FPS < 58 || s.FPS > 61 || s.Kbps < 580 || s.Kbps > 620 {
		t.Errorf("one second of 60 pictures: %+v", s)
	}
	if s.MeanQP != 24 || s.QP != 24 || s.PSNR != 41.5 {
		t.Errorf("the quality: %+v", s)
	}
	if s.AverageKbps < 595 || s.AverageKbps > 605 || s.BudgetBytes != 2000 || s.BudgetKbps != 900 || s.BudgetReason != BudgetAverage {
		t.Errorf("the budget: %+v", s)
	}
	if s.ConvertMs != 1 || s.EncodeMs != 4 || s.Resends != 1 || s.Packets != 61 {
		t.Errorf("means and counts: %+v", s)
	}
}

func TestStillStreamReadsZero(t *testing.T) {
	start := time.Unix(100, 0)
	m := NewMeter(start)
	m.Encoded(start, Picture{Width: 640, Height: 360, Key: true})
	m.Snapshot(start.Add(1100 * time.Millisecond))
	s := m.Snapshot(start.Add(2200 * time.Millisecond))
	if s.FPS != 0 || s.Kbps != 0 || s.KeyFrames != 1 {
		t.Errorf("after a second of nothing: %+v", s)
	}
}

func TestSnapshotAtTheStartIsFinite(t *testing.T) {
	start := time.Unix(100, 0)
	if s := NewMeter(start).Snapshot(start); s.FPS != 0 || s.Kbps != 0 || s.EncodeMs != 0 {
		t.Errorf("at the start: %+v", s)
	}
}
