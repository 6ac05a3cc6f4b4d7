// What the browser counted of a connection, as the log has it. Pure but for the
// question itself.

import type { ViewerAudio, ViewerFrames, ViewerNet } from './logschema';
import { hundredth } from './logspread';

export type Entry = Record<string, unknown> & { type: string; id: string };

/** The counters at one moment, since the connection began; times in ms. */
export interface Counters {
  packets: number;
  bytes: number;
  lost: number;
  resends: number;
  discarded: number;
  nacks: number;
  plis: number;
  jitterMs: number;
  received: number;
  decoded: number;
  dropped: number;
  keys: number;
  freezes: number;
  freezeMs: number;
  qpSum: number;
  bufferMs: number;
  targetMs: number;
  emitted: number;
  assemblyMs: number;
  assembled: number;
  width: number;
  height: number;
  rttMs: number;
  /** Of the fastest pair that works and is not in use; 0 while none is known. */
  otherRttMs: number;
  /** What is played now, by the host's clock; 0 while that is not known. */
  playedMs: number;
  /** Of the sound; null where there is none. */
  audio: AudioCounters | null;
  decoder: string;
  efficient: boolean | undefined;
  localType: string;
  remoteType: string;
  codec: string;
}

/** The counters of the sound. */
export interface AudioCounters {
  packets: number;
  lost: number;
  bufferMs: number;
  emitted: number;
  concealed: number;
  playedMs: number;
}

export function counters(entries: Iterable<Entry>): Counters {
  const all = new Map<string, Entry>();
  let video: Entry | undefined;
  let audio: Entry | undefined;
  let transport: Entry | undefined;
  let pair: Entry | undefined;
  for (const e of entries) {
    all.set(e.id, e);
    if (e.type === 'inbound-rtp' && e.kind === 'video') video = e;
    if (e.type === 'inbound-rtp' && e.kind === 'audio') audio = e;
    if (e.type === 'transport') transport = e;
    // Firefox has no transport entry; it marks the pair.
    if (e.type === 'candidate-pair' && (e.selected === true || (e.nominated === true && e.state === 'succeeded'))) pair ??= e;
  }
  pair = all.get(text(transport?.selectedCandidatePairId)) ?? pair;
  const v = (name: string): number => num(video?.[name]);
  return {
    packets: v('packetsReceived'),
    bytes: v('bytesReceived') + v('headerBytesReceived'),
    lost: v('packetsLost'),
    resends: v('retransmittedPacketsReceived'),
    discarded: v('packetsDiscarded'),
    nacks: v('nackCount'),
    plis: v('pliCount') + v('firCount'),
    jitterMs: v('jitter') * 1000,
    received: v('framesReceived'),
    decoded: v('framesDecoded'),
    dropped: v('framesDropped'),
    keys: v('keyFramesDecoded'),
    freezes: v('freezeCount'),
    freezeMs: v('totalFreezesDuration') * 1000,
    qpSum: v('qpSum'),
    bufferMs: v('jitterBufferDelay') * 1000,
    targetMs: v('jitterBufferTargetDelay') * 1000,
    emitted: v('jitterBufferEmittedCount'),
    assemblyMs: v('totalAssemblyTime') * 1000,
    assembled: v('framesAssembledFromMultiplePackets'),
    width: v('frameWidth'),
    height: v('frameHeight'),
    rttMs: num(pair?.currentRoundTripTime) * 1000,
    otherRttMs: otherRtt(all.values(), pair),
    playedMs: v('estimatedPlayoutTimestamp'),
    audio: audio ? sound(audio) : null,
    decoder: text(video?.decoderImplementation),
    efficient: typeof video?.powerEfficientDecoder === 'boolean' ? video.powerEfficientDecoder : undefined,
    localType: text(all.get(text(pair?.localCandidateId))?.candidateType),
    remoteType: text(all.get(text(pair?.remoteCandidateId))?.candidateType),
    codec: text(all.get(text(video?.codecId))?.sdpFmtpLine),
  };
}

function sound(audio: Entry): AudioCounters {
  const a = (name: string): number => num(audio[name]);
  return {
    packets: a('packetsReceived'), lost: a('packetsLost'), bufferMs: a('jitterBufferDelay') * 1000, emitted: a('jitterBufferEmittedCount'),
    concealed: a('concealedSamples'), playedMs: a('estimatedPlayoutTimestamp'),
  };
}

/** The least round trip of the pairs that work beside the one in use. */
function otherRtt(all: Iterable<Entry>, used: Entry | undefined): number {
  let least = Infinity;
  for (const e of all) {
    const rtt = num(e.currentRoundTripTime);
    if (used && e.type === 'candidate-pair' && e.id !== used.id && e.state === 'succeeded' && rtt > 0) least = Math.min(least, rtt);
  }
  return Number.isFinite(least) ? least * 1000 : 0;
}

/** What of a second the counters tell. */
export function netBetween(a: Counters, b: Counters, spanMs: number): ViewerNet {
  const net: ViewerNet = {
    kbps: spanMs > 0 ? hundredth(((b.bytes - a.bytes) * 8) / spanMs) : 0,
    packets: b.packets - a.packets,
    lost: b.lost - a.lost,
    resends: b.resends - a.resends,
    nacks: b.nacks - a.nacks,
    plis: b.plis - a.plis,
    jitterMs: hundredth(b.jitterMs),
    bufferMs: per(b.bufferMs - a.bufferMs, b.emitted - a.emitted),
    rttMs: hundredth(b.rttMs),
    targetMs: per(b.targetMs - a.targetMs, b.emitted - a.emitted),
  };
  if (b.otherRttMs) net.otherRttMs = hundredth(b.otherRttMs);
  if (b.discarded > a.discarded) net.discarded = b.discarded - a.discarded;
  if (b.localType) net.localType = b.localType;
  if (b.remoteType) net.remoteType = b.remoteType;
  return net;
}

/** Of the pictures, what the counters tell; the page counts those shown. */
export function framesBetween(a: Counters, b: Counters, shown: number, gapMs: number): ViewerFrames {
  const frames: ViewerFrames = {
    received: b.received - a.received,
    decoded: b.decoded - a.decoded,
    dropped: b.dropped - a.dropped,
    keys: b.keys - a.keys,
    freezes: b.freezes - a.freezes,
    freezeMs: hundredth(b.freezeMs - a.freezeMs),
    shown,
    gap: hundredth(gapMs),
    assembledMs: per(b.assemblyMs - a.assemblyMs, b.assembled - a.assembled),
  };
  if (b.decoder) frames.decoder = b.decoder;
  if (b.efficient !== undefined) frames.efficient = b.efficient;
  return frames;
}

/** Of the sound; undefined where there is none. */
export function audioBetween(a: Counters, b: Counters): ViewerAudio | undefined {
  if (!b.audio) return undefined;
  const was = a.audio ?? noSound;
  const heard: ViewerAudio = {
    packets: b.audio.packets - was.packets,
    lost: b.audio.lost - was.lost,
    bufferMs: per(b.audio.bufferMs - was.bufferMs, b.audio.emitted - was.emitted),
    concealed: b.audio.concealed - was.concealed,
  };
  // Both name what is played at this moment, by the clock of the host.
  if (b.playedMs && b.audio.playedMs) heard.skewMs = hundredth(b.audio.playedMs - b.playedMs);
  return heard;
}

const noSound: AudioCounters = { packets: 0, lost: 0, bufferMs: 0, emitted: 0, concealed: 0, playedMs: 0 };

export const noCounters: Counters = counters([]);

/** Asks a connection; null when it is closed. */
export async function ask(pc: RTCPeerConnection): Promise<Counters | null> {
  if (pc.connectionState === 'closed') return null;
  const report = await pc.getStats();
  const entries: Entry[] = [];
  report.forEach((e: Entry) => entries.push(e));
  return counters(entries);
}

/** A mean; 0 of nothing. */
export function per(sum: number, count: number): number {
  return count > 0 ? hundredth(sum / count) : 0;
}

function num(v: unknown): number {
  return typeof v === 'number' && Number.isFinite(v) ? v : 0;
}

function text(v: unknown): string {
  return typeof v === 'string' ? v : '';
}
