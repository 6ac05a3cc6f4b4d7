import assert from 'node:assert/strict';
import test from 'node:test';
import { limits, of, type Seen, type Where } from '../src/limits';
import type { HostSecond, Spread, ViewerSecond } from '../src/logschema';
import { Marks, type Effect } from '../src/marks';
import { figures, noSample, type Figures } from '../src/stats';
import { bar, History, spark, type Moment } from '../src/statsbar';
import { asText, barOf, limitOf, rows, secondOf } from '../src/statswords';

/** A figure that was the same each time. */
const same = (mean: number, n = 30): Spread => ({ n, mean, p95: mean, max: mean });

/** A second of a host at 60 pictures a second on a good link. */
function host(change: (h: HostSecond) => void = () => {}): HostSecond {
  const h: HostSecond = {
    record: 'second', t: 5000, spanMs: 1000, wallMs: 0, hidden: false, paused: false, width: 1920, height: 1080, sizePercent: 100,
    qp: same(23, 60), delay: { wait: same(1), convert: same(1), encode: same(6), handoff: same(0.1), queue: same(0.4) }, shown: {},
    frames: { captured: 60, unchanged: 0, encoded: 60, reencoded: 0, sent: 60 },
    rate: { sentKbps: 9000, videoKbps: 8800, targetKbps: 40000, leastKbps: 40000, paceKbps: 1e5, pathKbps: 0, state: 'steady', reason: 'the path carries more than is needed', silence: 20, probes: 0 },
    packets: { sent: 900, resent: 0, padding: 0, acked: 900, lost: 0, nacks: 0, unserved: 0, keyAsked: 0 },
    capture: { gap: 18, stalled: 0, grab: same(2) }, cpu: { process: 60, host: 40, wait: 1 }, loopLate: 1,
  };
  change(h);
  return h;
}

function viewer(change: (v: ViewerSecond) => void = () => {}): ViewerSecond {
  const v: ViewerSecond = {
    record: 'second', t: 5000, spanMs: 1000, wallMs: 0, hiddenMs: 0, focused: true, state: 'live', width: 1920, height: 1080,
    delay: { buffer: same(8), decode: same(2), present: same(12) },
    frames: { received: 60, decoded: 60, dropped: 0, shown: 59, keys: 0, freezes: 0, freezeMs: 0, gap: 18 },
    net: { kbps: 9000, packets: 900, lost: 0, resends: 0, nacks: 0, plis: 0, jitterMs: 1, bufferMs: 8 }, stall: 5,
  };
  change(v);
  return v;
}

const still = (h: HostSecond): void => {
  h.frames = { captured: 0, unchanged: 0, encoded: 0, reencoded: 0, sent: 0 };
  h.delay = {};
};

const cases: { name: string; where: Where; words: string; seen?: Partial<Seen>; host?: (h: HostSecond) => void; viewer?: (v: ViewerSecond) => void }[] = [
  { name: 'all is well', where: 'none', words: 'Nothing: 60 pictures a second, as the source draws them' },
  { name: 'a slow source', where: 'none', words: 'Nothing: 1 picture a second, as the source draws them', host: (h) => { h.frames.captured = h.frames.encoded = 1; }, viewer: (v) => { v.frames.shown = 1; } },
  { name: 'a finished picture', where: 'none', words: 'Nothing: the picture is finished', host: still, viewer: (v) => { v.frames.shown = 0; } },
  { name: 'a source that changes nothing', where: 'none', words: 'Nothing: the picture is finished', host: (h) => { still(h); h.frames.captured = h.frames.unchanged = 12; } },
  { name: 'a still picture on a good link', where: 'none', words: 'Nothing: the picture is being sharpened', host: (h) => { still(h); h.frames.encoded = h.frames.reencoded = 2; h.rate.sentKbps = 900; } },
  { name: 'a still picture on a narrow link', where: 'link', words: 'Limited by the link: 2.9 of 3.2 Mbit/s', host: (h) => { still(h); h.frames.encoded = h.frames.reencoded = 5; h.rate.sentKbps = 2900; h.rate.targetKbps = h.rate.leastKbps = 3200; } },
  { name: 'a narrow link', where: 'link', words: 'Limited by the link: 3.1 of 3.2 Mbit/s', host: (h) => { h.rate.sentKbps = 3100; h.rate.targetKbps = h.rate.leastKbps = 3200; h.qp = same(36); } },
  { name: 'a link that is used and suffices', where: 'none', words: 'Nothing: 60 pictures a second, as the source draws them', host: (h) => { h.rate.sentKbps = 30000; } },
  { name: 'a very narrow link', where: 'link', words: 'Limited by the link: 290 of 300 kbit/s', host: (h) => { h.rate.sentKbps = 290; h.rate.targetKbps = h.rate.leastKbps = 300; h.sizePercent = 50; } },
  { name: 'a rate that is set', where: 'link', words: 'Limited by the rate that is set: 4.0 of 4.0 Mbit/s', host: (h) => { h.rate.sentKbps = h.rate.targetKbps = h.rate.leastKbps = 4000; h.rate.fixed = true; h.qp = same(33); } },
  { name: 'pictures wait in the pacer', where: 'link', words: 'Limited by the link: 1.0 of 3.2 Mbit/s', host: (h) => { h.rate.sentKbps = 1000; h.rate.targetKbps = h.rate.leastKbps = 3200; h.delay.handoff = same(80); h.qp = same(40); } },
  { name: 'loss', where: 'link', words: 'The link loses 8.0 % of the packets', host: (h) => { h.packets.acked = 460; h.packets.lost = 40; } },
  { name: 'one packet of a few', where: 'none', words: 'Nothing: 60 pictures a second, as the source draws them', host: (h) => { h.packets.acked = 9; h.packets.lost = 1; } },
  { name: 'somebody else\u2019s queue', where: 'link', words: 'The link is crowded: packets wait 340 ms in it', host: (h) => { h.rate.pathQueue = same(340); } },
  { name: 'a link that broke', where: 'link', words: 'The link is silent: nothing came back for 2.4 s', host: (h) => { h.rate.silence = 2400; } },
  { name: 'a busy host', where: 'host', words: 'The host\u2019s processor is the limit: 99 % busy', host: (h) => { h.cpu.host = 99; h.delay.encode = same(45); } },
  { name: 'a busy host that keeps up', where: 'none', words: 'Nothing: 60 pictures a second, as the source draws them', host: (h) => { h.cpu.host = 99; } },
  { name: 'a host under quota', where: 'host', words: 'The host\u2019s processor is the limit: a quota withholds it', host: (h) => { h.cpu.throttled = 30; h.loopLate = 90; } },
  { name: 'a slow encoder', where: 'host', words: 'The host\u2019s encoder is the limit: 28 ms a picture', host: (h) => { h.delay.encode = same(27); h.frames.encoded = 34; h.frames.dropped = { merged: 26 }; } },
  { name: 'a display that hangs', where: 'source', words: 'The host\u2019s display does not answer', host: (h) => { still(h); h.capture.stalled = 900; } },
  { name: 'a slow display', where: 'source', words: 'The host\u2019s display is the limit: 38 ms to fetch a picture', host: (h) => { h.capture.grab = same(38); } },
  { name: 'a paused source', where: 'source', words: 'Paused: the window is minimized', host: (h) => { still(h); h.paused = true; h.capture.error = 'the window is minimized'; } },
  { name: 'a slow decoder', where: 'viewer', words: 'This device\u2019s decoder is the limit: 31 ms a picture', viewer: (v) => { v.delay.decode = same(31); v.frames.decoded = v.frames.shown = 30; } },
  { name: 'a device under pressure', where: 'viewer', words: 'This device\u2019s processor is the limit', viewer: (v) => { v.device = { pressure: 'serious' }; v.frames.shown = 40; } },
  { name: 'a device under pressure that keeps up', where: 'none', words: 'Nothing: 60 pictures a second, as the source draws them', viewer: (v) => { v.device = { pressure: 'critical' }; } },
  { name: 'a page that stood still', where: 'viewer', words: 'This page was held up for 640 ms', viewer: (v) => { v.stall = 640; } },
  { name: 'a slow screen', where: 'viewer', words: 'This screen shows 30 of 60 pictures a second', viewer: (v) => { v.frames.shown = 30; } },
  { name: 'a tab in the background', where: 'away', words: 'This tab is in the background', seen: { hidden: true } },
  { name: 'a tab that just came back', where: 'away', words: 'This tab is in the background', viewer: (v) => { v.hiddenMs = 800; } },
  { name: 'no connection', where: 'away', words: 'There is no connection yet', seen: { state: 'reconnecting' } },
  { name: 'the end', where: 'away', words: 'The stream has ended', seen: { state: 'ended' } },
  { name: 'a host that says nothing', where: 'away', words: 'Waiting for the host\u2019s figures\u2026', seen: { host: null } },
  { name: 'a page that knows nothing yet', where: 'none', words: 'Nothing: 60 pictures a second, as the source draws them', seen: { viewer: null } },
];

for (const c of cases) {
  test(`what limits: ${c.name}`, () => {
    const seen: Seen = { state: 'live', hidden: false, host: host(c.host), viewer: viewer(c.viewer), ...c.seen };
    assert.deepEqual(limits(seen), { where: c.where, words: c.words });
  });
}

test('rates are told in the unit of what is allowed', () => {
  assert.equal(of(120, 900), '120 of 900 kbit/s');
  assert.equal(of(80, 40000), '0.1 of 40.0 Mbit/s');
});

const way = { wait: same(1), convert: same(2), encode: same(7), handoff: same(0), queue: same(2), network: same(10), buffer: same(8), decode: same(2), present: same(8) };

test('the bar is of the same pictures where the viewer told of them', () => {
  const b = bar(host((h) => { h.shown = { ...way, arrive: same(22), total: same(40) }; }), viewer());
  assert.equal(b?.whole, true);
  assert.equal(b?.totalMs, 40);
  assert.deepEqual(b?.stages.map((s) => [s.name, s.ms]), [
    ['wait', 1], ['convert', 2], ['encode', 7], ['pacer', 2], ['network', 10], ['buffer', 8], ['decode', 2], ['present', 8],
  ]);
  assert.equal(b?.stages.reduce((sum, s) => sum + s.share, 0).toFixed(6), '1.000000');
});

test('elsewhere each end has its own, and what lies between is not made up', () => {
  const b = bar(host(), viewer());
  assert.equal(b?.whole, false);
  assert.equal(b?.totalMs, null);
  assert.equal(b?.stages.find((s) => s.name === 'network')?.ms, null);
  assert.equal(b?.stages.find((s) => s.name === 'buffer')?.ms, 8);
});

test('clocks that are a little off make no stage negative', () => {
  const b = bar(host((h) => { h.shown = { ...way, network: same(-0.4), total: same(30) }; }), null);
  assert.equal(b?.stages.find((s) => s.name === 'network')?.ms, 0);
});

test('no picture, no bar', () => {
  assert.equal(bar(null, null), null);
  assert.equal(bar(host(still), viewer((v) => { v.delay = {}; })), null);
});

test('the history keeps a minute, takes a second once and shows what was missed', () => {
  const all = new History();
  const add = (t: number, change: (h: HostSecond) => void = () => {}): void => all.add(host((h) => { h.t = t; change(h); }));
  add(1000);
  add(1000);
  add(2000, (h) => { h.rate.probes = 1; });
  add(5001, (h) => { h.frames.dropped = { stale: 1, merged: 4 }; });
  assert.deepEqual(all.all.map((m) => (m ? [m.probed, m.dropped] : null)), [[false, false], [true, false], null, null, [false, true]]);
  for (let t = 6000; t < 200e3; t += 1000) add(t);
  assert.equal(all.all.length, 60);
  add(900); // another stream
  assert.equal(all.all.length, 1);
});

test('the line of the rate', () => {
  const m = (sentKbps: number, targetKbps: number, probed = false, dropped = false): Moment => ({ sentKbps, targetKbps, probed, dropped });
  const s = spark([m(0, 400, true), m(100, 400), null, m(400, 400, false, true)], 60, 11);
  assert.equal(s.target, 'M56 1H57V1H58M59 1H60');
  assert.equal(s.used, 'M56 11V11H57V6H58V11ZM59 11V1H60V11Z');
  assert.deepEqual(s.probes, [56.5]);
  assert.deepEqual(s.drops, [59.5]);
  assert.deepEqual(spark([], 60, 11), { target: '', used: '', probes: [], drops: [] });
});

function all(change: Partial<Figures> = {}): Figures {
  return {
    state: 'live', sourceId: 'desktop', framesShown: 100, hidden: false, viewer: viewer(), input: { ms: 48.4, rtp: 1 },
    ...figures(noSample, noSample), width: 1920, height: 1080, codec: 'H264 high', route: 'direct', remote: '100.64.0.7:4711',
    host: { type: 'stats', route: 'Tailscale relayed, Frankfurt', routeUnknown: '', second: host((h) => { h.shown = { ...way, total: same(40) }; h.frames.dropped = { merged: 2 }; }) },
    ...change,
  };
}

test('the figures as text', () => {
  assert.equal(asText(all(), '2026-11-30T12:00:00Z'), `nearglass: 2026-11-30T12:00:00Z
Limited by: Nothing: 60 pictures a second, as the source draws them
Route: Tailscale relayed, Frankfurt
Delay: 40 ms
By stage: capture 1.0 ms, convert 2.0 ms, encode 7.0 ms, pacer 2.0 ms, network 10 ms, buffer 8.0 ms, decode 2.0 ms, display 8.0 ms
Input until seen: 48 ms
Rate: 9.0 of 40.0 Mbit/s, the path carries more than is needed
Picture: 1920 \u00d7 1080, H.264 high
Sent as: full size
Each second: 60 drawn, 60 sent, 59 shown
Not shown: 2 overtaken
Loss: 0 %
Round trip: \u2013
Quality: QP 23
Host: 40 % busy, nearglass 0.6 cores`);
});

test('what was lost, and what became of it', () => {
  const told = (change: (h: HostSecond) => void): string | undefined =>
    rows(all({ host: { type: 'stats', second: host(change) } })).find(([name]) => name === 'Loss')?.[1];
  assert.equal(told((h) => { h.packets.acked = 95; h.packets.lost = 5; h.packets.nacks = 5; h.packets.resent = 4; h.frames.repaired = 1; }),
    '5.0 %, 5 asked for, 4 sent again, 1 picture repaired');
  assert.equal(told((h) => { h.frames.repaired = 2; }), '0 %, 2 pictures repaired');
});

test('the overlay has the same rows whatever is known', () => {
  const names = (f: Figures): string[] => rows(f).map(([name]) => name);
  const bare = all({ host: null, viewer: null, input: null, width: 0 });
  assert.deepEqual(names(bare), names(all()));
  assert.equal(barOf(bare), null);
  assert.equal(limitOf(bare).where, 'away');
});

test('a second that has not the shape of one is not used', () => {
  for (const second of [undefined, null, 7, {}, { rate: {} }, { ...host(), delay: null }]) {
    assert.equal(secondOf(all({ host: { type: 'stats', second } })), null);
  }
});

/** What marks say of a course of events. */
function marked(play: (m: Marks) => void): Effect[] {
  const seen: Effect[] = [];
  play(new Marks((e) => seen.push(e)));
  return seen;
}

const wrap = 2 ** 32;

test('the picture that the host names counts, and none before it', () => {
  assert.deepEqual(marked((m) => {
    assert.equal(m.next(1000), 1);
    m.shown(100, 1010);
    m.shown(200, 1026); // sharper, or something else that moved
    m.named(1, 300);
    m.shown(300, 1043);
    m.shown(400, 1060);
  }), [{ ms: 43, rtp: 300 }]);
});

test('a picture may be shown before its name comes', () => {
  assert.deepEqual(marked((m) => {
    m.shown(100, 990);
    m.next(1000);
    m.shown(200, 1016);
    m.shown(300, 1033);
    m.shown(400, 1050);
    m.named(1, 300);
  }), [{ ms: 33, rtp: 300 }]);
});

test('the next picture counts where the named one was lost, across the wrap of the timestamp', () => {
  assert.deepEqual(marked((m) => {
    m.next(1000);
    m.shown(wrap - 200, 1016);
    m.named(1, wrap - 100);
    m.shown(50, 1050);
  }), [{ ms: 50, rtp: 50 }]);
});

test('one input is followed at a time, and a few a second', () => {
  const m = new Marks(() => {});
  assert.equal(m.next(1000), 1);
  assert.equal(m.next(1400), null);
  m.named(1, 10);
  m.shown(10, 1420);
  assert.equal(m.next(1430), 2);
  m.named(2, 20);
  m.shown(20, 1440);
  assert.equal(m.next(1500), null);
  assert.equal(m.next(1700), 3);
  assert.equal(m.next(4300), 4, 'one that had no effect is given up');
});

test('an answer to another question, or twice, says nothing', () => {
  assert.deepEqual(marked((m) => {
    m.next(1000);
    m.named(7, 10);
    m.shown(10, 1010);
    m.named(1, 20);
    m.named(1, 5);
    m.shown(15, 1020);
    m.reset();
    m.shown(20, 1030);
  }), []);
});

test('a name that comes after a second of pictures says nothing: the first of them is not known', () => {
  assert.deepEqual(marked((m) => {
    m.next(1000);
    for (let i = 0; i < 200; i++) m.shown(1000 + i, 1001 + i * 16);
    m.named(1, 1003);
  }), []);
});
