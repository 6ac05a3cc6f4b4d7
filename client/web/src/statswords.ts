// The figures of "Show stats" in words: the rows of the overlay, and all of it as
// text to be handed on. Pure.

import { limits, loss, ms, of, percent, type Limit } from './limits';
import { bar, type Bar } from './statsbar';
import type { HostSecond } from './logschema';
import type { Figures } from './stats';

const none = '\u2013';

export type Row = [name: string, words: string];

/** The host's newest second, where it has the shape of one. */
export function secondOf(f: Figures): HostSecond | null {
  const s = f.host?.second as Partial<HostSecond> | null | undefined;
  const parts = [s, s?.rate, s?.frames, s?.delay, s?.shown, s?.packets, s?.capture, s?.cpu];
  return parts.every((p) => typeof p === 'object' && p !== null) ? (s as HostSecond) : null;
}

export function limitOf(f: Figures): Limit {
  return limits({ state: f.state, hidden: f.hidden, host: secondOf(f), viewer: f.viewer });
}

export function barOf(f: Figures): Bar | null {
  return bar(secondOf(f), f.viewer);
}

/** The road in words; what the browser tells of it until the host has spoken. */
export function route(f: Figures): string {
  return text(f.host?.route) || f.route || 'Route not known yet';
}

/** What of the road could not be known, and the address at its end. */
export function routeDetail(f: Figures): string {
  return [text(f.host?.routeUnknown), f.remote].filter(Boolean).join(' \u00b7 ');
}

export function rateWords(f: Figures): string {
  const h = secondOf(f);
  if (h) return of(h.rate.sentKbps, h.rate.targetKbps);
  return f.kbps === null ? none : of(f.kbps, f.kbps).replace(/^.* of /, '');
}

/** What the controller says of itself. */
export function rateReason(f: Figures): string {
  const r = secondOf(f)?.rate;
  if (!r) return '';
  return r.fixed ? 'set by hand' : r.reason || r.state;
}

export function inputWords(f: Figures): string {
  return f.input === null ? none : ms(f.input.ms);
}

export function rows(f: Figures): Row[] {
  return [
    ['Picture', picture(f)],
    ['Sent as', sentAs(f)],
    ['Each second', flow(f)],
    ['Not shown', missed(f)],
    ['Loss', lossWords(f)],
    ['Round trip', trip(f)],
    ['Quality', quality(f)],
    ['Host', processor(f)],
  ];
}

function picture(f: Figures): string {
  if (!f.width) return none;
  const codec = f.codec.replace('H264', 'H.264');
  return [`${f.width} \u00d7 ${f.height}`, codec].filter(Boolean).join(', ');
}

/** The step of the resolution ladder, and why it was taken. */
function sentAs(f: Figures): string {
  const share = secondOf(f)?.sizePercent || number(f.host?.sizePercent);
  if (share === null) return none;
  if (share >= 100) return 'full size';
  return [`${share} % of either side`, text(f.host?.sizeReason)].filter(Boolean).join(': ');
}

function flow(f: Figures): string {
  const h = secondOf(f);
  const shown = f.viewer ? `${f.viewer.frames.shown} shown` : f.fps === null ? '' : `${Math.round(f.fps)} decoded`;
  if (!h) return shown || none;
  return [`${h.frames.captured} drawn`, `${h.frames.sent} sent`, shown].filter(Boolean).join(', ');
}

const fates: [reason: string, words: string][] = [
  ['merged', 'overtaken'], ['stale', 'too late'], ['large', 'too large'], ['hidden', 'out of sight'],
];

function missed(f: Figures): string {
  const h = secondOf(f);
  if (!h) return none;
  const list = fates.flatMap(([reason, words]) => (h.frames.dropped?.[reason] ? [`${h.frames.dropped[reason]} ${words}`] : []));
  if (f.viewer?.frames.dropped) list.push(`${f.viewer.frames.dropped} by the browser`);
  if (h.frames.unchanged) list.push(`${h.frames.unchanged} unchanged`);
  return list.join(', ') || 'none';
}

function lossWords(f: Figures): string {
  const h = secondOf(f);
  const share = h ? loss(h) : f.lossPercent === null ? null : f.lossPercent / 100;
  const again = h?.packets.resent ? `${h.packets.resent} sent again` : '';
  const asked = h?.packets.nacks ? `${h.packets.nacks} asked for` : '';
  const repaired = h?.frames.repaired ? `${h.frames.repaired} ${h.frames.repaired === 1 ? 'picture' : 'pictures'} repaired` : '';
  return [share === null ? 'none told' : percent(share), asked, again, repaired].filter(Boolean).join(', ');
}

function trip(f: Figures): string {
  const v = secondOf(f)?.rtt?.mean ?? f.rttMs ?? number(f.host?.rttMs);
  const queue = secondOf(f)?.rate.pathQueue?.mean;
  if (!v) return none;
  return queue !== undefined && queue >= 1 ? `${ms(v)}, ${ms(queue)} of it in a queue` : ms(v);
}

function quality(f: Figures): string {
  const h = secondOf(f);
  const qp = h?.qp?.mean ?? number(f.host?.qp) ?? f.qp;
  if (qp === null) return none;
  return [`QP ${Math.round(qp)}`, h?.frames.reencoded ? `${h.frames.reencoded} sharpened` : ''].filter(Boolean).join(', ');
}

function processor(f: Figures): string {
  const c = secondOf(f)?.cpu;
  if (!c) return none;
  return `${Math.round(c.host)} % busy, nearglass ${(c.process / 100).toFixed(1)} cores`;
}

/** All of it, for a message to somebody who is to help. */
export function asText(f: Figures, when: string): string {
  const b = barOf(f);
  const stages = b?.stages.filter((s) => s.ms !== null).map((s) => `${s.label.toLowerCase()} ${ms(s.ms ?? 0)}`).join(', ');
  const lines: Row[] = [
    ['nearglass', when],
    ['Limited by', limitOf(f).words],
    ['Route', [route(f), text(f.host?.routeUnknown)].filter(Boolean).join(' \u00b7 ')],
    ['Delay', b?.totalMs == null ? none : ms(b.totalMs)],
    ['By stage', stages || none],
    ['Input until seen', inputWords(f)],
    ['Rate', [rateWords(f), rateReason(f)].filter(Boolean).join(', ')],
    ...rows(f),
  ];
  return lines.map(([name, words]) => `${name}: ${words}`).join('\n');
}

function text(v: unknown): string {
  return typeof v === 'string' ? v : '';
}

function number(v: unknown): number | null {
  return typeof v === 'number' && Number.isFinite(v) ? v : null;
}
