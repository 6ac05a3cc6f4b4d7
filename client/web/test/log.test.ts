import assert from 'node:assert/strict';
import test from 'node:test';
import { grainOf, LogClock } from '../src/logclock';
import { capturedAt, LogFrames } from '../src/logframes';
import { Hints, rateOf } from '../src/loghints';
import { Sum } from '../src/logspread';
import { audioBetween, counters, framesBetween, netBetween, noCounters } from '../src/logstats';
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
          const ways = clock.ways(page(t), arrived, page(back));
          const known = clock.estimate(page(back))?.bound ?? 0;
          for (const off of [ways.up - (arrived - t), ways.down - (back - arrived)]) assert.ok(Math.abs(off) <= known + 0.1, `a way is off by ${off}`);
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

test('a queue on the way down is told from one on the way up', () => {
  const clock = new LogClock();
  // Quick once, so that the offset of 500 is known to within 2.
  clock.answered(1000, 1502, 1004);
  clock.answered(3000, 3502, 3304);
  const { down, up } = clock.ways(3000, 3502, 3304);
  assert.ok(Math.abs(down - 302) < 4 && Math.abs(up - 2) < 4, `${down} down, ${up} up`);
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

test('the fastest pair beside the one in use', () => {
  const of = (...others: object[]) => counters([
    { type: 'transport', id: 't', selectedCandidatePairId: 'p' },
    { type: 'candidate-pair', id: 'p', state: 'succeeded', currentRoundTripTime: 0.08 },
    ...others.map((o, n) => ({ type: 'candidate-pair', id: `o${n}`, state: 'succeeded', ...o })),
  ]);
  const other = (c: ReturnType<typeof counters>) => netBetween(noCounters, c, 1000).otherRttMs;
  assert.equal(other(of()), undefined);
  assert.equal(other(of({ currentRoundTripTime: 0.03 }, { currentRoundTripTime: 0.005 })), 5);
  assert.equal(other(of({ currentRoundTripTime: 0.005, state: 'failed' }, {})), undefined);
});

test('sound, and how far the picture is behind it', () => {
  const of = (n: number, played: number) => counters([
    { type: 'inbound-rtp', id: 'v', kind: 'video', estimatedPlayoutTimestamp: played - 35 },
    { type: 'inbound-rtp', id: 'a', kind: 'audio', packetsReceived: 50 * n, packetsLost: n, jitterBufferDelay: 96 * n, jitterBufferEmittedCount: 4800 * n,
      concealedSamples: 480 * n, estimatedPlayoutTimestamp: played },
  ]);
  assert.deepEqual(audioBetween(of(1, 7000), of(3, 8000)), { packets: 100, lost: 2, bufferMs: 20, concealed: 960, skewMs: 35 });
  assert.equal(audioBetween(noCounters, of(1, 35))?.skewMs, undefined, 'a picture of which it is not known');
  assert.equal(audioBetween(of(1, 7000), noCounters), undefined);
});

/** Plays with these globals in place of those that node has. */
async function inBrowser(globals: Record<string, unknown>, play: () => Promise<void>): Promise<void> {
  const before = Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  try {
    await play();
  } finally {
    for (const [name, was] of before) {
      if (was) Object.defineProperty(globalThis, name, was);
      else Reflect.deleteProperty(globalThis, name);
    }
  }
}

test('what a browser tells of its machine', async () => {
  const battery = { level: 0.4, charging: false };
  const connection = { type: 'wifi', downlink: 5, saveData: true };
  const display = { width: 1920, height: 1080 };
  let press: (records: { state: string }[]) => void = () => {};
  let frame = 0;
  await inBrowser({
    navigator: { getBattery: () => Promise.resolve(battery), connection },
    screen: display,
    devicePixelRatio: 2,
    PressureObserver: class {
      constructor(changed: typeof press) {
        press = changed;
      }
      observe = (): Promise<void> => Promise.resolve();
      disconnect(): void {}
    },
    requestAnimationFrame: (step: (t: number) => void) => queueMicrotask(() => step((frame += 1000 / 60))),
  }, async () => {
    const hints = new Hints();
    for (let i = 0; i < 50; i++) await Promise.resolve();
    press([{ state: 'nominal' }, { state: 'serious' }]);
    assert.deepEqual(hints.now(), { battery: 0.4, charging: false, pressure: 'serious', network: 'wifi', downlink: 5, saveData: true, refreshHz: 60 });
    battery.level = 0.39;
    assert.equal(hints.now()?.battery, 0.39);
    assert.deepEqual(hints.changes(), []);
    assert.deepEqual(hints.changes(), []);
    battery.charging = true;
    connection.type = 'cellular';
    display.width = 2560;
    assert.deepEqual(hints.changes(), ['screen: 2560x1080 at 2', 'network: cellular', 'power: mains']);
    assert.deepEqual(hints.changes(), []);
    hints.dispose();
  });
});

test('a browser that tells nothing of its machine', async () => {
  const screen = { width: 640, height: 480 };
  await inBrowser({ navigator: {}, PressureObserver: undefined, requestAnimationFrame: () => 0, screen, devicePixelRatio: 1 }, async () => {
    const hints = new Hints();
    for (let i = 0; i < 50; i++) await Promise.resolve();
    assert.equal(hints.now(), undefined);
    assert.deepEqual([...hints.changes(), ...hints.changes()], []);
  });
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
