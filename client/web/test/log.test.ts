import assert from 'node:assert/strict';
import test from 'node:test';
import { grainOf, LogClock } from '../src/logclock';
import { capturedAt, LogFrames } from '../src/logframes';
import { rateOf } from '../src/loghints';
import { Sum } from '../src/logspread';
import { counters, framesBetween, netBetween, noCounters } from '../src/logstats';
import { decode } from '../src/protocol';

/** Numbers from 0 to 1, the same in each run. */
function dice(seed: number): () => number {
  let s = seed;
  return () => {
    s = (s * 1103515245 + 12345) % 2147483648;
    return s / 2147483648;
  };
}

interface Road {
  name: string;
  /** One way each, ms, and what is added at random. */
  there: number;
  back: number;
  jitter: number;
  /** What the bound may be once the clock is known, ms. */
  most: number;
}

const roads: Road[] = [
  { name: 'LAN', there: 0.3, back: 0.3, jitter: 0.5, most: 2 },
  { name: 'WiFi', there: 1, back: 2, jitter: 15, most: 14 },
  { name: 'shaped, lopsided', there: 40, back: 5, jitter: 3, most: 27 },
];

for (const road of roads) {
  for (const drift of [-200e-6, 0, 200e-6]) {
    test(`the clock is known within its bound: ${road.name}, drift ${drift}`, () => {
      for (let seed = 1; seed <= 20; seed++) {
        const roll = dice(seed);
        const clock = new LogClock(0.1);
        // The page's clock began three hours before the host's and drifts.
        const page = (host: number): number => (host + 3 * 3600e3) * (1 + drift);
        let worst = 0;
        for (let t = 0; t < 600e3; t += 2000) {
          const arrived = t + road.there + roll() * road.jitter;
          const back = arrived + road.back + roll() * road.jitter;
          clock.answered(page(t), arrived, page(back));
          const later = t + 1900;
          const e = clock.estimate(page(later));
          if (!e) throw new Error('there is no estimate after an answer');
          const error = Math.abs(page(later) + e.offset - later);
          assert.ok(error <= e.bound, `off by ${error} where the bound is ${e.bound}`);
          if (t <= 20e3) continue;
          worst = Math.max(worst, e.bound);
          const lopsided = Math.abs(road.there - road.back) / 2;
          if (road.jitter < 5) assert.ok(error <= lopsided + 2, `off by ${error} on a road that is lopsided by ${lopsided}`);
        }
        assert.ok(worst <= road.most, `the bound grew to ${worst}`);
      }
    });
  }
}

test('a clock that stood still is noticed, and followed', () => {
  const clock = new LogClock();
  assert.equal(clock.answered(1000, 500, 1010), 0);
  assert.equal(clock.answered(3000, 2504, 3008), 0);
  const moved = clock.answered(5000, 64505, 5010);
  assert.ok(Math.abs(moved - 60000) < 10, String(moved));
  assert.equal(clock.estimate(5010)?.offset, 59500);
});

test('answers that make no sense change nothing', () => {
  const clock = new LogClock();
  assert.equal(clock.answered(10, NaN, 20), 0);
  assert.equal(clock.answered(30, 5, 20), 0);
  assert.equal(clock.estimate(20), null);
});

test('the grain of a clock', () => {
  let calls = 0;
  assert.equal(grainOf(() => Math.floor(calls++ / 50)), 1);
  assert.equal(grainOf(() => 7), 1);
});

test('a second of values', () => {
  const s = new Sum();
  assert.equal(s.take(), undefined);
  for (let i = 100; i > 0; i--) s.add(i);
  s.add(NaN);
  assert.deepEqual(s.take(), { n: 100, mean: 50.5, p95: 95, max: 100 });
  assert.equal(s.take(), undefined);
});

test('timestamps name the time of capture, also after they wrapped', () => {
  const wrap = 2 ** 32 / 90;
  for (const at of [5, 1e6, wrap - 3, wrap + 7, 3 * wrap + 100]) {
    const rtp = Math.round(at * 90) % 2 ** 32;
    assert.ok(Math.abs(capturedAt(rtp, at + 80) - at) < 0.02);
  }
});

const meta = (at: number) => ({ receiveTime: at, processingDuration: 0.003, presentationTime: at + 4, expectedDisplayTime: at + 12, rtpTimestamp: 900 });

test('the way of a picture at the viewer', () => {
  const f = new LogFrames();
  const t = f.shown(meta(1050), 1000, { offset: 40, bound: 1 });
  // Captured at 10 ms of the host's time, received at 50 of the page's, 90 of the host's.
  assert.deepEqual(t.host, { received: 90, decoding: 91, decoded: 94, shown: 102 });
  f.shown(meta(1090), 1000, null);
  const { delay, shown, gap } = f.take(1100);
  assert.equal(shown, 2);
  assert.equal(gap, 998); // until now, none before the first
  assert.deepEqual([delay.buffer?.mean, delay.decode?.mean, delay.present?.mean], [1, 3, 8]);
  assert.deepEqual([delay.arrive?.n, delay.arrive?.mean, delay.total?.mean], [1, 80, 92]);
  assert.deepEqual(f.take(1200), { delay: {}, shown: 0, gap: 1098 });
});

test('a browser that tells less', () => {
  const f = new LogFrames();
  const t = f.shown({ presentationTime: 1004, expectedDisplayTime: 1012 }, 1000, { offset: 0, bound: 1 });
  assert.equal(t.host, null);
  assert.deepEqual(Object.keys(f.take(20).delay), ['present']);
});

test('what the browser counted between two seconds', () => {
  const of = (n: number) => counters([
    { type: 'inbound-rtp', id: 'v', kind: 'video', packetsReceived: 100 * n, bytesReceived: 100_000 * n, headerBytesReceived: 0, packetsLost: n,
      framesReceived: 60 * n, framesDecoded: 60 * n, jitterBufferDelay: 0.3 * n, jitterBufferEmittedCount: 60 * n, totalFreezesDuration: 0.25 * n,
      freezeCount: n, decoderImplementation: 'FFmpeg', powerEfficientDecoder: false },
    { type: 'transport', id: 't', selectedCandidatePairId: 'p' },
    { type: 'candidate-pair', id: 'p', localCandidateId: 'l', remoteCandidateId: 'r', currentRoundTripTime: 0.02 },
    { type: 'local-candidate', id: 'l', candidateType: 'host' },
    { type: 'remote-candidate', id: 'r', candidateType: 'prflx' },
  ]);
  const net = netBetween(of(1), of(2), 1000);
  assert.deepEqual([net.kbps, net.packets, net.lost, net.bufferMs, net.rttMs, net.localType, net.remoteType], [800, 100, 1, 5, 20, 'host', 'prflx']);
  const frames = framesBetween(of(1), of(2), 58, 40);
  assert.deepEqual([frames.decoded, frames.shown, frames.gap, frames.freezeMs, frames.decoder, frames.efficient], [60, 58, 40, 250, 'FFmpeg', false]);
  assert.equal(netBetween(noCounters, noCounters, 0).kbps, 0);
});

test('the refresh rate is the usual one', () => {
  assert.equal(rateOf([0, 16.7, 33.4, 100, 116.7, 133.4]), 60);
  assert.equal(rateOf([1]), 0);
});

test('messages about the log', () => {
  assert.deepEqual(decode('{"type":"stream","id":"ABC","trace":true}'), { type: 'stream', id: 'ABC', trace: true });
  assert.deepEqual(decode('{"type":"pong","t":1,"host":2}'), { type: 'pong', t: 1, host: 2 });
  assert.deepEqual(decode('{"type":"pong","t":1}'), { type: 'pong', t: 1, host: undefined });
  assert.equal(decode('{"type":"stream"}'), null);
});
