// What limits the stream now, in one line of plain words. Pure.

import type { Delay, HostSecond, ViewerSecond } from './logschema';

/** Where the limit lies; none: nowhere, away: nothing is to be shown now. */
export type Where = 'none' | 'link' | 'host' | 'source' | 'viewer' | 'away';

export interface Limit {
  where: Where;
  words: string;
}

/** What is known of the last second; null where an end has not spoken. */
export interface Seen {
  /** The page's word: connecting, live, paused, reconnecting, ended, failed. */
  state: string;
  hidden: boolean;
  host: HostSecond | null;
  viewer: ViewerSecond | null;
}

type Rule = (h: HostSecond, v: ViewerSecond | null) => Limit | null;

/** The first rule that has something to say is the answer: what keeps all else from mattering comes first. */
const rules: Rule[] = [source, silence, lossyLink, hostProcessor, encoder, viewerDecoder, viewerBusy, fullQueue, narrowLink, slowGrab, fine];

export function limits(s: Seen): Limit {
  if (s.hidden || (s.viewer && s.viewer.hiddenMs > s.viewer.spanMs / 2)) return { where: 'away', words: 'This tab is in the background' };
  if (s.state === 'connecting' || s.state === 'reconnecting') return { where: 'away', words: 'There is no connection yet' };
  if (s.state === 'ended' || s.state === 'failed') return { where: 'away', words: 'The stream has ended' };
  if (!s.host) return { where: 'away', words: 'Waiting for the host\u2019s figures\u2026' };
  if (s.host.hidden) return { where: 'away', words: 'The host rests: this tab was in the background' };
  for (const rule of rules) {
    const found = rule(s.host, s.viewer);
    if (found) return found;
  }
  return { where: 'none', words: 'Nothing' };
}

/** A display server may think about an answer for many refreshes of a screen, and no longer. */
const stalledMs = 400;

function source(h: HostSecond): Limit | null {
  if (h.paused) return { where: 'source', words: h.capture.error ? `Paused: ${h.capture.error}` : 'The source gives no pictures' };
  if (h.capture.stalled > stalledMs) return { where: 'source', words: 'The host\u2019s display does not answer' };
  return null;
}

/** Reports of the receiver come many times a second while packets do. */
const silentMs = 1000;

function silence(h: HostSecond): Limit | null {
  return h.rate.silence > silentMs ? { where: 'link', words: `The link is silent: nothing came back for ${seconds(h.rate.silence)}` } : null;
}

/** Resends hide less; from here on they delay pictures often. */
const lossy = 0.03;

function lossyLink(h: HostSecond): Limit | null {
  const share = loss(h);
  if (share === null || share < lossy || h.packets.lost < 3) return null;
  return { where: 'link', words: `The link loses ${percent(share)} of the packets` };
}

/** Share of the packets that the receiver reported as missing; null where it reported none. */
export function loss(h: HostSecond): number | null {
  const all = h.packets.acked + h.packets.lost;
  return all > 0 ? h.packets.lost / all : null;
}

/** From capture until encoded, and whether pictures were passed over meanwhile. */
function slowed(h: HostSecond): boolean {
  const making = mean(h.delay, 'wait') + mean(h.delay, 'convert') + mean(h.delay, 'encode');
  return making > 40 || h.loopLate > 30 || merged(h) > 0.1;
}

function hostProcessor(h: HostSecond): Limit | null {
  const c = h.cpu;
  if (!slowed(h)) return null;
  if ((c.throttled ?? 0) > 10) return { where: 'host', words: 'The host\u2019s processor is the limit: a quota withholds it' };
  if (c.host + (c.steal ?? 0) > 90) return { where: 'host', words: `The host\u2019s processor is the limit: ${Math.round(c.host)} % busy` };
  return null;
}

/** Below 12 ms a picture no encoder is the limit at 60 a second. */
function encoder(h: HostSecond): Limit | null {
  const took = mean(h.delay, 'convert') + mean(h.delay, 'encode');
  const busy = h.spanMs > 0 ? (took * h.frames.encoded) / h.spanMs : 0;
  if (took < 12 || !(busy > 0.75 || took > 40) || merged(h) < 0.05) return null;
  return { where: 'host', words: `The host\u2019s encoder is the limit: ${ms(took)} a picture` };
}

function viewerDecoder(_h: HostSecond, v: ViewerSecond | null): Limit | null {
  const took = v?.delay.decode;
  if (!v || !took || took.n < 5) return null;
  const busy = v.spanMs > 0 ? (took.mean * v.frames.decoded) / v.spanMs : 0;
  if (took.mean < 9 || !(busy > 0.75 || took.mean > 24)) return null;
  return { where: 'viewer', words: `This device\u2019s decoder is the limit: ${ms(took.mean)} a picture` };
}

function viewerBusy(_h: HostSecond, v: ViewerSecond | null): Limit | null {
  const pressed = ['serious', 'critical'].includes(v?.device?.pressure ?? '');
  if (v && pressed && v.frames.shown < nearly * v.frames.received) return { where: 'viewer', words: 'This device\u2019s processor is the limit' };
  return v && v.stall > 200 ? { where: 'viewer', words: `This page was held up for ${ms(v.stall)}` } : null;
}

/** A queue that long is not the stream's own, which keeps to a tenth. */
const bloatMs = 120;

function fullQueue(h: HostSecond): Limit | null {
  const queue = h.rate.pathQueue?.mean ?? 0;
  return queue > bloatMs ? { where: 'link', words: `The link is crowded: packets wait ${ms(queue)} in it` } : null;
}

/** From here on a picture in motion is coarser than it need be. */
const coarseQP = 28;

/** The stream wanted what it was allowed, and the picture shows it. */
function narrowLink(h: HostSecond): Limit | null {
  const r = h.rate;
  const allowed = Math.min(r.targetKbps, Math.max(r.leastKbps, 1));
  const waits = mean(h.delay, 'handoff') + mean(h.delay, 'queue') > 30;
  const full = r.targetKbps > 0 && h.frames.encoded > 0 && (r.sentKbps > 0.6 * allowed || waits);
  const small = h.sizePercent > 0 && h.sizePercent < 100;
  const coarse = (h.qp?.mean ?? 0) > coarseQP || small || h.frames.reencoded > 0 || dropped(h) > 0;
  if (!full || !coarse) return null;
  const figures = of(r.sentKbps, r.targetKbps);
  return { where: 'link', words: r.fixed ? `Limited by the rate that is set: ${figures}` : `Limited by the link: ${figures}` };
}

function slowGrab(h: HostSecond): Limit | null {
  const took = h.capture.grab;
  if (!took || took.n < 5 || took.mean < 25) return null;
  return { where: 'source', words: `The host\u2019s display is the limit: ${ms(took.mean)} to fetch a picture` };
}

/** Pictures that reach a screen a little late are counted a second later. */
const nearly = 0.85;

function fine(h: HostSecond, v: ViewerSecond | null): Limit {
  const drawn = rateOf(h.frames.captured - h.frames.unchanged, h.spanMs);
  if (h.frames.encoded === 0) return { where: 'none', words: 'Nothing: the picture is finished' };
  if (drawn < 1) return { where: 'none', words: 'Nothing: the picture is being sharpened' };
  const seen = v ? rateOf(v.frames.shown, v.spanMs) : drawn;
  if (drawn > 10 && seen < nearly * drawn) {
    return { where: 'viewer', words: `This screen shows ${Math.round(seen)} of ${Math.round(drawn)} pictures a second` };
  }
  return { where: 'none', words: `Nothing: ${Math.round(drawn)} ${Math.round(drawn) === 1 ? 'picture' : 'pictures'} a second, as the source draws them` };
}

function rateOf(count: number, spanMs: number): number {
  return spanMs > 0 ? (count * 1000) / spanMs : 0;
}

function mean(d: Delay, stage: keyof Delay): number {
  return d[stage]?.mean ?? 0;
}

/** Share of the captured pictures for which the encoder was not free in time. */
function merged(h: HostSecond): number {
  return h.frames.captured > 0 ? (h.frames.dropped?.merged ?? 0) / h.frames.captured : 0;
}

/** Pictures that the link had no room for. */
export function dropped(h: HostSecond): number {
  return (h.frames.dropped?.stale ?? 0) + (h.frames.dropped?.large ?? 0);
}

/** "3.1 of 3.2 Mbit/s". */
export function of(usedKbps: number, allowedKbps: number): string {
  const mega = allowedKbps >= 1000;
  const figure = (kbps: number): string => (mega ? (kbps / 1000).toFixed(1) : String(Math.round(kbps)));
  return `${figure(usedKbps)} of ${figure(allowedKbps)} ${mega ? 'Mbit/s' : 'kbit/s'}`;
}

export function percent(share: number): string {
  const p = share * 100;
  return `${p >= 10 || p === 0 ? Math.round(p) : p.toFixed(1)} %`;
}

export function ms(v: number): string {
  return `${v >= 10 ? Math.round(v) : v.toFixed(1)} ms`;
}

function seconds(v: number): string {
  return `${(v / 1000).toFixed(1)} s`;
}
