// The messages of the data channels: text, JSON, one object a message. What
// the host sends is checked here, once, so that the rest can trust its types.

export type Rights = 'view' | 'control';

export interface SourceInfo {
  type: 'source';
  id: string;
  title: string;
  kind: string;
  width: number;
  height: number;
  rights: Rights;
}

export interface StateInfo {
  type: 'state';
  state: 'live' | 'paused' | 'ended';
  reason: string;
}

export interface CursorInfo {
  type: 'cursor';
  id: string;
  width: number;
  height: number;
  hotX: number;
  hotY: number;
  png: string;
}

export interface PointerInfo {
  type: 'pointer';
  x: number;
  y: number;
  visible: boolean;
  cursor: string;
  /** Counts the host's pointer messages; absent when the host gives none. */
  n: number | undefined;
}

export interface HostStats {
  type: 'stats';
  [figure: string]: unknown;
}

/** The road that the stream's packets take, for people. */
export interface PathInfo {
  type: 'path';
  words: string;
  /** What could not be known of it, and why. */
  unknown: string;
  /** The packets took another one before. */
  changed: boolean;
}

/** Names the stream in the logs of both ends. */
export interface StreamInfo {
  type: 'stream';
  id: string;
  trace: boolean;
}

/** When a picture came, was taken by the decoder, decoded and shown: ms of the host's clock. */
export interface ShownAt {
  received: number;
  decoding: number;
  decoded: number;
  shown: number;
}

export type HostMessage =
  | SourceInfo
  | StateInfo
  | CursorInfo
  | PointerInfo
  | HostStats
  | PathInfo
  | StreamInfo
  | { type: 'marked'; n: number; rtp: number }
  | { type: 'pong'; t: number; host: number | undefined }
  | { type: 'bye'; reason: string };

/** A place in a picture of w by h pixels. */
export interface Spot {
  x: number;
  y: number;
  w: number;
  h: number;
}

export type InputMessage =
  | { type: 'mark'; n: number }
  | ({ type: 'move' } & Spot)
  | ({ type: 'button'; button: number; down: boolean } & Spot)
  | ({ type: 'wheel'; dx: number; dy: number } & Spot)
  | { type: 'key'; code: string; key: string; down: boolean }
  | { type: 'text'; text: string }
  | { type: 'release' };

export type ControlMessage =
  | { type: 'ping'; t: number }
  | ({ type: 'shown'; rtp: number } & Partial<ShownAt>)
  | { type: 'hidden'; hidden: boolean }
  | { type: 'stats'; on: boolean };

/** No pointer shape of any system is larger; more would be a fault or an attack. */
const maxCursorPx = 1024;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

type Fields = Record<string, unknown>;

/** Reads one message of the host, or gives null for what is not understood. */
export function decode(text: string): HostMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const o = value as Fields;
  switch (o.type) {
    case 'source':
      return source(o);
    case 'state':
      return state(o);
    case 'cursor':
      return cursor(o);
    case 'pointer':
      return pointer(o);
    case 'path':
      return str(o.words) ? { type: 'path', words: str(o.words), unknown: str(o.unknown), changed: o.changed === true } : null;
    case 'stats':
      return o as HostStats;
    case 'pong':
      return finite(o.t) ? { type: 'pong', t: o.t, host: finite(o.host) ? o.host : undefined } : null;
    case 'marked':
      return finite(o.n) && finite(o.rtp) ? { type: 'marked', n: o.n, rtp: o.rtp } : null;
    case 'stream':
      return str(o.id) ? { type: 'stream', id: str(o.id), trace: o.trace === true } : null;
    case 'bye':
      return { type: 'bye', reason: str(o.reason) };
    default:
      return null;
  }
}

function source(o: Fields): SourceInfo | null {
  if (!positive(o.width) || !positive(o.height)) return null;
  return {
    type: 'source',
    id: str(o.id),
    title: str(o.title),
    kind: str(o.kind),
    width: o.width,
    height: o.height,
    rights: o.rights === 'control' ? 'control' : 'view',
  };
}

function state(o: Fields): StateInfo | null {
  if (o.state !== 'live' && o.state !== 'paused' && o.state !== 'ended') return null;
  return { type: 'state', state: o.state, reason: str(o.reason) };
}

function cursor(o: Fields): CursorInfo | null {
  const png = str(o.png);
  if (!positive(o.width) || !positive(o.height) || !base64.test(png)) return null;
  if (o.width > maxCursorPx || o.height > maxCursorPx) return null;
  const hotX = finite(o.hotX) ? o.hotX : 0;
  const hotY = finite(o.hotY) ? o.hotY : 0;
  return { type: 'cursor', id: str(o.id), width: o.width, height: o.height, hotX, hotY, png };
}

function pointer(o: Fields): PointerInfo | null {
  if (!finite(o.x) || !finite(o.y)) return null;
  return {
    type: 'pointer',
    x: o.x,
    y: o.y,
    visible: o.visible !== false,
    cursor: str(o.cursor),
    n: finite(o.n) ? o.n : undefined,
  };
}

function finite(v: unknown): v is number {
  return typeof v === 'number' && Number.isFinite(v);
}

function positive(v: unknown): v is number {
  return finite(v) && v > 0;
}

function str(v: unknown): string {
  return typeof v === 'string' ? v : typeof v === 'number' ? String(v) : '';
}
