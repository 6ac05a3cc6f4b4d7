// The viewer's log of one stream: what this page counts and measures each
// second, and what happens. It goes to the host while the stream runs, and what
// could not be sent waits in the browser.

import { capabilities, type Hints } from './loghints';
import { grainOf, LogClock, type Ways } from './logclock';
import {
  EventClockJump, EventClockStep, EventConnected, EventDevice, EventDisconnect, EventEnd, EventError, EventHidden, EventSize, EventStart, EventVisible,
  SchemaVersion, type Event, type FrameTrace, type Header, type ViewerSecond,
} from './logschema';
import { mostBytes, send } from './logsend';
import { hundredth, Sum } from './logspread';
import { ask, audioBetween, framesBetween, netBetween, noCounters, per, type Counters } from './logstats';
import { mostLines, type LogStore } from './logstore';
import { LogFrames, type ShownTimes } from './logframes';
import type { ControlMessage, ShownAt } from './protocol';

export interface LogParts {
  kept: LogStore;
  hints: Hints;
  version: string;
  tell(m: ControlMessage): void;
  state(): string;
}

const secondMs = 1000;
/** So often lines go to the host, in seconds. */
const sendEvery = 5;
/** A still stream has little to tell, and its host is to rest. */
const stillFactor = 3;
/** The clocks are compared this often; three times at once in the beginning. */
const pingMs = 2000;
const firstPingsMs = [0, 150, 400];
/** So many errors of the page are told; one that comes again and again says nothing new. */
const mostErrors = 20;
/** A message of an error may be long; the host cuts it as well. */
const mostReason = 200;
/** A wall clock that is slewed moves by less in a second. */
const leastStepMs = 100;

type Line = Header | ViewerSecond | Event | FrameTrace;

export class Logbook {
  private readonly zero = performance.now();
  private readonly clock = new LogClock(grain());
  private readonly frames = new LogFrames();
  private readonly ends = new AbortController();
  private readonly watcher: PerformanceObserver | null;
  private readonly timers: number[] = [];
  private stream = '';
  private tracing = false;
  /** Lines that the host is not known to have; the first is the line sent. */
  private lines: string[] = [];
  private sent = 0;
  private sending = false;
  private closed = false;
  private ticks = 0;
  private due = 0;
  private last = { at: 0, wall: Date.now(), counters: noCounters };
  private hiddenSince = document.hidden ? 0 : -1;
  private hiddenMs = 0;
  private stall = 0;
  private pings = 0;
  private rtt = 0;
  private ways: Ways = { down: 0, up: 0 };
  private size = '';
  private errors = 0;
  private readonly inputs = new Sum();
  private newestSecond: ViewerSecond | null = null;
  /** No picture was shown in the last second. */
  private still = false;
  private skipped = 0;

  constructor(private readonly pc: RTCPeerConnection, private readonly parts: LogParts) {
    this.write(this.header());
    this.event(EventStart);
    this.watcher = watchTasks((ms) => (this.stall = Math.max(this.stall, ms)));
    const { signal } = this.ends;
    document.addEventListener('visibilitychange', () => this.turned(), { signal });
    pc.addEventListener('connectionstatechange', () => this.changed(), { signal });
    window.addEventListener('error', (e) => this.failed(e.message), { signal });
    window.addEventListener('unhandledrejection', (e) => this.failed(String(e.reason)), { signal });
    for (const ms of firstPingsMs) this.after(ms, () => this.ping());
    this.timers.push(window.setInterval(() => this.pingNow(), pingMs));
    this.plan();
  }

  /** The id of the stream, once the host has told it. */
  get id(): string {
    return this.stream;
  }

  begin(stream: string, trace: boolean): void {
    if (this.stream || !/^[A-Z2-7]{26}$/.test(stream)) return;
    this.stream = stream;
    this.tracing = trace;
    this.lines.forEach((text, n) => void this.parts.kept.put(stream, n, text));
    this.ping();
  }

  pong(sent: number, host: number): void {
    const now = this.now();
    const moved = this.clock.answered(sent, host, now);
    this.pings++;
    this.rtt = now - sent;
    this.ways = this.clock.ways(sent, host, now);
    if (moved) this.event(EventClockStep, { amountMs: hundredth(moved) });
  }

  /** Counts a picture that was shown; gives its times on the host's clock for a report. */
  shown(meta: VideoFrameCallbackMetadata): ShownAt | null {
    const times = this.frames.shown(meta, this.zero, this.clock.estimate(this.now()));
    if (this.tracing) this.write(trace(times));
    return times.host;
  }

  /** An input was seen after so many ms. */
  input(ms: number): void {
    this.inputs.add(ms);
  }

  /** The record of the last second. */
  get newest(): ViewerSecond | null {
    return this.newestSecond;
  }

  event(event: string, more: Partial<Event> = {}): void {
    this.write({ record: 'event', t: hundredth(this.now()), wallMs: Date.now(), event, ...more });
  }

  /** Ends the log; what is left is sent, also while the page goes away. */
  close(reason: string): void {
    if (this.closed) return;
    this.second(this.last.counters);
    this.event(EventEnd, { who: 'viewer', reason });
    this.closed = true;
    this.ends.abort();
    this.watcher?.disconnect();
    for (const t of this.timers) clearTimeout(t);
    void this.flush(true);
  }

  /** Sends what there is. */
  async flush(last = false): Promise<void> {
    if (!this.stream || this.lines.length === 0 || (this.sending && !last)) return;
    this.sending = true;
    const sent = await send(this.stream, this.sent, this.batch(), last);
    this.sending = false;
    if (sent.kind === 'gone') this.forget(this.lines.length);
    else if (sent.kind === 'stored') this.forget(sent.lines - this.sent);
  }

  /** As many of the first lines as one request takes. */
  private batch(): string[] {
    let size = 0;
    const end = this.lines.findIndex((text) => (size += new Blob([text]).size) > mostBytes);
    return end < 0 ? this.lines : this.lines.slice(0, Math.max(1, end));
  }

  private forget(count: number): void {
    if (count <= 0) return;
    this.lines.splice(0, count);
    this.sent += count;
    void this.parts.kept.drop(this.stream, this.sent);
  }

  private now(): number {
    return performance.now() - this.zero;
  }

  private after(ms: number, what: () => void): void {
    this.timers.push(window.setTimeout(what, ms));
  }

  private ping(): void {
    if (this.stream) this.parts.tell({ type: 'ping', t: this.now() });
  }

  private pingNow(): void {
    if (!this.still || ++this.skipped % stillFactor === 0) this.ping();
  }

  private write(line: Line): void {
    if (this.closed || this.lines.length >= mostLines) return;
    const text = `${JSON.stringify(line)}\n`;
    if (this.stream) void this.parts.kept.put(this.stream, this.sent + this.lines.length, text);
    this.lines.push(text);
  }

  private header(): Header {
    return {
      record: 'header', schema: SchemaVersion, stream: '', side: 'viewer', startMs: Date.now(), version: this.parts.version,
      cores: navigator.hardwareConcurrency || 0, capabilities: capabilities(),
    };
  }

  /** The next second ends where one of the host's does, once that is known. */
  private plan(): void {
    const now = this.now();
    const offset = this.clock.estimate(now)?.offset ?? 0;
    this.due = (Math.floor((now + offset) / secondMs) + 1) * secondMs - offset;
    if (this.due - now < secondMs / 4) this.due += secondMs;
    this.after(this.due - now, () => void this.tick());
  }

  private async tick(): Promise<void> {
    const late = this.now() - this.due;
    this.stall = Math.max(this.stall, late);
    let counted: Counters | null = null;
    try {
      counted = await ask(this.pc);
    } catch {
      // The connection went away meanwhile; the second tells what the page knows.
    }
    if (this.closed) return;
    this.second(counted ?? this.last.counters);
    if (++this.ticks % (this.still ? sendEvery * stillFactor : sendEvery) === 0) void this.flush();
    this.timers.splice(firstPingsMs.length + 1);
    this.plan();
  }

  private second(counted: Counters): void {
    const now = this.now();
    const wall = Date.now();
    const span = now - this.last.at;
    const step = wall - this.last.wall - span;
    if (Math.abs(step) > leastStepMs) this.event(EventClockJump, { amountMs: hundredth(step) });
    const before = this.last.counters;
    this.last = { at: now, wall, counters: counted };
    this.newestSecond = this.record(now, wall, span, before, counted);
    this.write(this.newestSecond);
    this.noteSize(counted);
    for (const what of this.parts.hints.changes()) this.event(EventDevice, { reason: what });
    this.stall = this.pings = 0;
  }

  private record(now: number, wall: number, span: number, before: Counters, counted: Counters): ViewerSecond {
    const pictures = this.frames.take(now);
    this.still = pictures.shown === 0;
    const clock = this.clock.estimate(now);
    const s: ViewerSecond = {
      record: 'second', t: hundredth(now), spanMs: hundredth(span), wallMs: wall,
      hiddenMs: hundredth(this.takeHidden(now)), focused: document.hasFocus(), state: this.parts.state(),
      width: counted.width, height: counted.height, delay: pictures.delay,
      frames: framesBetween(before, counted, pictures.shown, pictures.gap), net: netBetween(before, counted, span),
      qp: per(counted.qpSum - before.qpSum, counted.decoded - before.decoded), stall: hundredth(this.stall),
    };
    if (clock) {
      s.clock = {
        offsetMs: hundredth(clock.offset), boundMs: hundredth(clock.bound), rttMs: hundredth(this.rtt), pings: this.pings,
        downMs: hundredth(this.ways.down), upMs: hundredth(this.ways.up),
      };
    }
    const audio = audioBetween(before, counted);
    if (audio) s.audio = audio;
    const inputs = this.inputs.take();
    if (inputs) s.input = inputs;
    const device = this.parts.hints.now();
    if (device) s.device = device;
    return s;
  }

  /** Something went wrong in the page. */
  private failed(message: string): void {
    if (++this.errors <= mostErrors) this.event(EventError, { reason: message.slice(0, mostReason) });
  }

  private noteSize(c: Counters): void {
    const size = `${c.width}x${c.height}`;
    if (c.width && size !== this.size) this.event(EventSize, { width: c.width, height: c.height });
    if (c.width) this.size = size;
  }

  private turned(): void {
    this.event(document.hidden ? EventHidden : EventVisible);
    if (document.hidden) {
      this.hiddenSince = this.now();
      void this.flush();
    } else {
      this.hiddenMs += this.now() - this.hiddenSince;
      this.hiddenSince = -1;
    }
  }

  private takeHidden(now: number): number {
    let ms = this.hiddenMs;
    this.hiddenMs = 0;
    if (this.hiddenSince >= 0) {
      ms += now - this.hiddenSince;
      this.hiddenSince = now;
    }
    return ms;
  }

  private changed(): void {
    const state = this.pc.connectionState;
    if (state === 'connected') this.event(EventConnected);
    else if (state === 'disconnected' || state === 'failed') this.event(EventDisconnect, { reason: state });
  }
}

function trace(t: ShownTimes): FrameTrace {
  return { record: 'frame', t: t.received, rtp: t.rtp, receivedT: t.received, decodedT: t.decoded, shownT: t.shown };
}

/** Measured once: it takes some milliseconds where the clock is coarse. */
let grainMs: number | undefined;
function grain(): number {
  return (grainMs ??= grainOf(() => performance.now()));
}

/** Tells how long each task took that held the page up. */
function watchTasks(took: (ms: number) => void): PerformanceObserver | null {
  try {
    const o = new PerformanceObserver((list) => list.getEntries().forEach((e) => took(e.duration)));
    o.observe({ type: 'longtask' });
    return o;
  } catch {
    return null; // Firefox and Safari do not tell; the lateness of the page's own timer remains.
  }
}
