// The delay of a picture, split by stage, and the rate of the last minute: what
// the overlay draws. Pure.

import { dropped } from './limits';
import type { Delay, HostSecond, ViewerSecond } from './logschema';

export type StageName = 'wait' | 'convert' | 'encode' | 'pacer' | 'network' | 'buffer' | 'decode' | 'present';

export interface Stage {
  name: StageName;
  label: string;
  ms: number | null;
  /** Of the whole bar, 0 to 1. */
  share: number;
}

export interface Bar {
  stages: Stage[];
  totalMs: number | null;
  /** Every stage and the total are of the same pictures. */
  whole: boolean;
}

const names: [name: StageName, label: string, parts: (keyof Delay)[]][] = [
  ['wait', 'Capture', ['wait']],
  ['convert', 'Convert', ['convert']],
  ['encode', 'Encode', ['encode']],
  ['pacer', 'Pacer', ['handoff', 'queue']],
  ['network', 'Network', ['network']],
  ['buffer', 'Buffer', ['buffer']],
  ['decode', 'Decode', ['decode']],
  ['present', 'Display', ['present']],
];

export const noBar: Bar = { stages: names.map(([name, label]) => ({ name, label, ms: null, share: 0 })), totalMs: null, whole: false };

/**
 * The mean way of the second's pictures; null when none was shown. Where the
 * viewer told the host of its pictures, all is of those. Elsewhere each end has
 * its own, and the network's part is not known.
 */
export function bar(host: HostSecond | null, viewer: ViewerSecond | null): Bar | null {
  const whole = host?.shown.total !== undefined;
  const way: Delay = whole && host ? host.shown : { ...host?.delay, ...viewer?.delay };
  const times = names.map(([name, label, parts]) => ({ name, label, ms: sum(way, parts) }));
  const all = times.reduce((t, s) => t + (s.ms ?? 0), 0);
  if (all <= 0) return null;
  return {
    stages: times.map((s) => ({ ...s, share: (s.ms ?? 0) / all })),
    totalMs: way.total?.mean ?? null,
    whole,
  };
}

/** A clock that is off by a little makes a short stage negative; it took no time. */
function sum(way: Delay, parts: (keyof Delay)[]): number | null {
  const known = parts.map((p) => way[p]?.mean).filter((v): v is number => v !== undefined);
  return known.length ? Math.max(0, known.reduce((t, v) => t + v, 0)) : null;
}

/** A second of the rate's history; null where nothing was heard. */
export interface Moment {
  sentKbps: number;
  targetKbps: number;
  probed: boolean;
  dropped: boolean;
}

const historySeconds = 60;

/** The last minute, the newest at the end. */
export class History {
  private last = -1;
  private moments: (Moment | null)[] = [];

  /** Takes a second once; seconds that were missed leave a gap, and a new stream begins anew. */
  add(h: HostSecond): void {
    if (h.t === this.last) return;
    if (h.t < this.last) {
      this.last = -1;
      this.moments = [];
    }
    const missed = this.last < 0 ? 0 : Math.round((h.t - this.last) / 1000) - 1;
    for (let i = 0; i < Math.min(missed, historySeconds); i++) this.moments.push(null);
    this.last = h.t;
    const r = h.rate;
    this.moments.push({ sentKbps: r.sentKbps, targetKbps: r.targetKbps, probed: r.probes > 0, dropped: dropped(h) > 0 });
    this.moments = this.moments.slice(-historySeconds);
  }

  get all(): readonly (Moment | null)[] {
    return this.moments;
  }
}

export interface Spark {
  /** Paths of SVG: the estimate as a line, the use as an area. */
  target: string;
  used: string;
  /** Where to mark probes and drops, from the left. */
  probes: number[];
  drops: number[];
}

/**
 * Draws a history into a box. Heights go by the square root of the rate: use is
 * often a small part of what is possible, and both are to be seen.
 */
export function spark(all: readonly (Moment | null)[], width: number, height: number): Spark {
  const top = Math.max(1, ...all.map((m) => Math.max(m?.targetKbps ?? 0, m?.sentKbps ?? 0)));
  const step = width / historySeconds;
  const right = (i: number): number => tenth(width - (all.length - 1 - i) * step);
  const y = (kbps: number): number => tenth(height - Math.sqrt(Math.max(0, kbps) / top) * (height - 1));
  const spots = (has: (m: Moment) => boolean): number[] => all.flatMap((m, i) => (m && has(m) ? [tenth(right(i) - step / 2)] : []));
  const drawn: Spark = { target: '', used: '', probes: spots((m) => m.probed), drops: spots((m) => m.dropped) };
  all.forEach((m, i) => {
    if (!m) return;
    const goesOn = i > 0 && all[i - 1];
    const left = tenth(right(i) - step);
    drawn.target += `${goesOn ? 'V' : `M${left} `}${y(m.targetKbps)}H${right(i)}`;
    drawn.used += `${goesOn ? '' : `M${left} ${height}`}V${y(m.sentKbps)}H${right(i)}${all[i + 1] ? '' : `V${height}Z`}`;
  });
  return drawn;
}

function tenth(v: number): number {
  return Math.round(v * 10) / 10;
}
