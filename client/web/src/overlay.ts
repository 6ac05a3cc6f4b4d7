// The "Show stats" overlay.

import { h } from './dom';
import type { Figures } from './stats';

type Row = [name: string, value: (f: Figures) => string];

const none = '\u2013';

function shown(v: number | null | undefined, unit: string, digits = 1): string {
  return v === null || v === undefined ? none : `${v.toFixed(digits)} ${unit}`.trim();
}

function host(f: Figures, name: string): number | null {
  const v = f.host?.[name];
  return typeof v === 'number' && Number.isFinite(v) ? v : null;
}

function rate(kbps: number | null): string {
  if (kbps === null) return none;
  return kbps >= 1000 ? `${(kbps / 1000).toFixed(1)} Mbit/s` : `${Math.round(kbps)} kbit/s`;
}

function route(f: Figures): string {
  const said = f.host?.route;
  const lacks = f.host?.routeUnknown;
  return [typeof said === 'string' && said ? said : f.route, lacks, f.remote].filter(Boolean).join(' \u00b7 ') || none;
}

function picture(f: Figures): string {
  if (!f.width) return none;
  const percent = host(f, 'sizePercent') ?? 100;
  const share = percent < 100 ? ` (${percent} %)` : '';
  return `${f.width} \u00d7 ${f.height}${share}${f.codec ? ` \u00b7 ${f.codec.replace('H264', 'H.264')}` : ''}`;
}

const rows: Row[] = [
  ['Route', route],
  ['Picture', picture],
  ['Frames', (f) => `${shown(f.fps, '/s', 0)} \u00b7 ${f.framesShown} shown`],
  ['Bitrate', (f) => (host(f, 'targetKbps') === null ? rate(f.kbps) : `${rate(f.kbps)} of ${rate(host(f, 'targetKbps'))}`)],
  ['Delay', (f) => shown(f.delayMs, 'ms')],
  ['Round trip', (f) => shown(f.rttMs ?? host(f, 'rttMs'), 'ms')],
  ['Jitter buffer', (f) => shown(f.jitterBufferMs, 'ms')],
  ['Decode', (f) => shown(f.decodeMs, 'ms')],
  ['Convert, encode', (f) => `${shown(host(f, 'convertMs'), 'ms')}, ${shown(host(f, 'encodeMs'), 'ms')}`],
  ['Send queue', (f) => shown(host(f, 'queueMs'), 'ms')],
  ['Loss', (f) => `${shown(f.lossPercent ?? host(f, 'lossPercent'), '%')} \u00b7 ${f.packetsLost} lost`],
  ['Quality (QP)', (f) => shown(host(f, 'qp') ?? f.qp, '', 0)],
  ['Repairs', (f) => `${f.nacks} NACK \u00b7 ${f.plis} PLI \u00b7 ${f.keyFrames} key`],
];

export class Overlay {
  private readonly cells = new Map<string, HTMLElement>();
  readonly element: HTMLElement;

  constructor() {
    const list = h('dl', {});
    for (const [name] of rows) {
      const cell = h('dd', { testid: `stat-${name.toLowerCase().replace(/[^a-z]+/g, '-')}` }, none);
      this.cells.set(name, cell);
      list.append(h('dt', {}, name), cell);
    }
    this.element = h('section', { class: 'stats', testid: 'stats-overlay', 'aria-label': 'Stats', hidden: true }, list);
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  toggle(): boolean {
    this.element.hidden = !this.element.hidden;
    return this.open;
  }

  show(f: Figures): void {
    for (const [name, value] of rows) {
      const cell = this.cells.get(name);
      const text = value(f);
      if (cell && cell.textContent !== text) cell.textContent = text;
    }
  }
}
