// The figures of "Show stats": the receiver's counters, read once a second,
// and what the host says of itself. The arithmetic is pure.

import type { ViewerSecond } from './logschema';
import type { Effect } from './marks';
import type { HostStats } from './protocol';

/** Counters and states at one moment, all times in milliseconds. */
export interface Sample {
  atMs: number;
  bytes: number;
  packets: number;
  lost: number;
  decoded: number;
  dropped: number;
  keyFrames: number;
  qpSum: number;
  decodeMs: number;
  bufferMs: number;
  emitted: number;
  nacks: number;
  plis: number;
  freezes: number;
  width: number;
  height: number;
  rttMs: number;
  route: string;
  local: string;
  remote: string;
  codec: string;
}

/** What window.nearglass.stats() resolves to. Null means not known (yet). */
export interface Figures {
  state: string;
  sourceId: string;
  route: string;
  local: string;
  remote: string;
  codec: string;
  width: number;
  height: number;
  framesShown: number;
  /** The page is out of sight. */
  hidden: boolean;
  /** The newest record of the viewer's log. */
  viewer: ViewerSecond | null;
  /** The newest input of which it is known how long it took to be seen. */
  input: Effect | null;
  fps: number | null;
  kbps: number | null;
  rttMs: number | null;
  jitterBufferMs: number | null;
  decodeMs: number | null;
  /** Half the round trip, the jitter buffer and decoding: not capture, encoding or the screen. */
  delayMs: number | null;
  lossPercent: number | null;
  packetsLost: number;
  nacks: number;
  plis: number;
  freezes: number;
  framesDecoded: number;
  framesDropped: number;
  keyFrames: number;
  qp: number | null;
  host: HostStats | null;
}

/** What the page knows without asking the connection. */
export type About = Pick<Figures, 'state' | 'sourceId' | 'framesShown' | 'hidden' | 'viewer' | 'input'>;

type Entry = Record<string, unknown> & { type: string; id: string };

/** Collects what matters from the entries of an RTCStatsReport. */
export function sample(entries: Iterable<Entry>, atMs: number): Sample {
  const all = new Map<string, Entry>();
  let video: Entry | undefined;
  let pair: Entry | undefined;
  for (const e of entries) {
    all.set(e.id, e);
    if (e.type === 'inbound-rtp' && e.kind === 'video') video = e;
  }
  const transport = [...all.values()].find((e) => e.type === 'transport');
  pair = all.get(String(transport?.selectedCandidatePairId ?? ''));
  // Firefox has no transport entry; it marks the pair.
  pair ??= [...all.values()].find((e) => e.type === 'candidate-pair' && (e.selected === true || (e.nominated === true && e.state === 'succeeded')));
  const local = all.get(String(pair?.localCandidateId ?? ''));
  const remote = all.get(String(pair?.remoteCandidateId ?? ''));
  const v = (name: string): number => num(video?.[name]);
  return {
    atMs,
    bytes: v('bytesReceived') + v('headerBytesReceived'),
    packets: v('packetsReceived'),
    lost: v('packetsLost'),
    decoded: v('framesDecoded'),
    dropped: v('framesDropped'),
    keyFrames: v('keyFramesDecoded'),
    qpSum: v('qpSum'),
    decodeMs: v('totalDecodeTime') * 1000,
    bufferMs: v('jitterBufferDelay') * 1000,
    emitted: v('jitterBufferEmittedCount'),
    nacks: v('nackCount'),
    plis: v('pliCount'),
    freezes: v('freezeCount'),
    width: v('frameWidth'),
    height: v('frameHeight'),
    rttMs: num(pair?.currentRoundTripTime) * 1000,
    route: routeOf(local, remote),
    local: address(local),
    remote: address(remote),
    codec: codecOf(all.get(String(video?.codecId ?? ''))),
  };
}

/** The figures between two samples; frozen ones (no frames) are null. */
export function figures(before: Sample, now: Sample): Omit<Figures, keyof About | 'host'> {
  const seconds = (now.atMs - before.atMs) / 1000;
  const decoded = now.decoded - before.decoded;
  const expected = now.packets - before.packets + (now.lost - before.lost);
  const per = (sum: number, count: number): number | null => (count > 0 ? tenth(sum / count) : null);
  const bufferMs = per(now.bufferMs - before.bufferMs, now.emitted - before.emitted);
  const decodeMs = per(now.decodeMs - before.decodeMs, decoded);
  const rttMs = now.rttMs > 0 ? tenth(now.rttMs) : null;
  return {
    route: now.route,
    local: now.local,
    remote: now.remote,
    codec: now.codec,
    width: now.width,
    height: now.height,
    fps: seconds > 0 ? tenth(decoded / seconds) : null,
    kbps: seconds > 0 ? Math.round(((now.bytes - before.bytes) * 8) / 1000 / seconds) : null,
    rttMs,
    jitterBufferMs: bufferMs,
    decodeMs,
    delayMs: bufferMs === null || decodeMs === null ? null : tenth((rttMs ?? 0) / 2 + bufferMs + decodeMs),
    lossPercent: expected > 0 ? tenth(Math.max(0, (100 * (now.lost - before.lost)) / expected)) : null,
    packetsLost: now.lost,
    nacks: now.nacks,
    plis: now.plis,
    freezes: now.freezes,
    framesDecoded: now.decoded,
    framesDropped: now.dropped,
    keyFrames: now.keyFrames,
    qp: per(now.qpSum - before.qpSum, decoded),
  };
}

export const noSample: Sample = sample([], 0);

/** A pair of samples closer than this says little about rates. */
const leastGapMs = 250;

/** Takes samples of one peer connection; the newest two make the figures. */
export class Sampler {
  private before: Sample = noSample;
  private now: Sample = noSample;

  async take(pc: RTCPeerConnection): Promise<void> {
    if (pc.connectionState === 'closed' || performance.now() - this.now.atMs < leastGapMs) return;
    const report = await pc.getStats();
    const entries: Entry[] = [];
    report.forEach((e: Entry) => entries.push(e));
    this.before = this.now;
    this.now = sample(entries, performance.now());
  }

  /** There is a sample to compare the next one with. */
  get begun(): boolean {
    return this.now.atMs > 0;
  }

  reset(): void {
    this.before = this.now = noSample;
  }

  figures(): ReturnType<typeof figures> {
    const start = this.before.atMs ? this.before : this.now;
    return figures(start, this.now);
  }
}

function routeOf(local: Entry | undefined, remote: Entry | undefined): string {
  if (!local || !remote) return '';
  const kinds = [String(local.candidateType), String(remote.candidateType)];
  const how = kinds.includes('relay') ? 'relayed' : 'direct';
  const tcp = String(local.protocol) === 'tcp' ? ' over TCP' : '';
  return how + tcp;
}

function address(c: Entry | undefined): string {
  if (!c) return '';
  const ip = String(c.address ?? c.ip ?? '');
  return ip ? `${ip.includes(':') ? `[${ip}]` : ip}:${num(c.port)}` : '';
}

function codecOf(c: Entry | undefined): string {
  if (!c) return '';
  const profile = /profile-level-id=([0-9a-f]{6})/i.exec(String(c.sdpFmtpLine ?? ''))?.[1] ?? '';
  const name = String(c.mimeType ?? '').replace('video/', '');
  const high = profile.startsWith('64') ? ' high' : profile.startsWith('42') ? ' baseline' : '';
  return name + high;
}

function num(v: unknown): number {
  return typeof v === 'number' && Number.isFinite(v) ? v : 0;
}

function tenth(v: number): number {
  return Math.round(v * 10) / 10;
}
