// The ways of the pictures that were shown, from their times as the browser
// gives them. Pure.

import type { Delay } from './logschema';
import type { Estimate } from './logclock';
import { hundredth, Sum } from './logspread';
import type { ShownAt } from './protocol';

/** Of one picture: ms of the log's time, and the same on the host's clock where that is known. */
export interface ShownTimes {
  rtp: number;
  received: number;
  decoding: number;
  decoded: number;
  shown: number;
  host: ShownAt | null;
}

type Meta = Pick<VideoFrameCallbackMetadata, 'presentationTime' | 'expectedDisplayTime' | 'receiveTime' | 'processingDuration' | 'rtpTimestamp'>;

export class LogFrames {
  private buffer = new Sum();
  private decode = new Sum();
  private present = new Sum();
  private arrive = new Sum();
  private total = new Sum();
  private count = 0;
  private gap = 0;
  private lastShown = 0;

  /** Counts a picture. Zero is the log's time 0 on the page's clock. */
  shown(m: Meta, zero: number, clock: Estimate | null): ShownTimes {
    const t = timesOf(m, zero, clock);
    this.count++;
    this.gap = Math.max(this.gap, t.shown - this.lastShown);
    this.lastShown = t.shown;
    if (Number.isFinite(t.received)) {
      this.buffer.add(t.decoding - t.received);
      this.decode.add(t.decoded - t.decoding);
    }
    this.present.add(t.shown - t.decoded);
    if (t.host && clock) {
      const captured = capturedAt(t.rtp, t.host.received);
      this.arrive.add(t.host.received - captured);
      this.total.add(t.host.shown - captured);
    }
    return t;
  }

  /** What was shown since the last take; now is the log's time. */
  take(now: number): { delay: Delay; shown: number; gap: number } {
    const delay: Delay = {};
    const stages = { buffer: this.buffer, decode: this.decode, present: this.present, arrive: this.arrive, total: this.total };
    for (const [name, sum] of Object.entries(stages) as [keyof Delay, Sum][]) {
      const spread = sum.take();
      if (spread) delay[name] = spread;
    }
    const found = { delay, shown: this.count, gap: Math.max(this.gap, now - this.lastShown) };
    this.count = this.gap = 0;
    return found;
  }
}

/**
 * When a picture was received, taken by the decoder, decoded and shown. A frame
 * is handed to the compositor as soon as it is decoded, and processingDuration
 * is how long the decoder had it.
 */
function timesOf(m: Meta, zero: number, clock: Estimate | null): ShownTimes {
  const decoded = m.presentationTime - zero;
  const decoding = decoded - (m.processingDuration ?? NaN) * 1000;
  const received = Math.min((m.receiveTime ?? NaN) - zero, decoding);
  const shown = Math.max(m.expectedDisplayTime - zero, decoded);
  const t: ShownTimes = {
    rtp: m.rtpTimestamp ?? 0, received: hundredth(received), decoding: hundredth(decoding), decoded: hundredth(decoded), shown: hundredth(shown), host: null,
  };
  if (clock && m.rtpTimestamp !== undefined && Number.isFinite(received)) {
    const host = (v: number): number => Math.max(0, hundredth(v + clock.offset));
    t.host = { received: host(received), decoding: host(decoding), decoded: host(decoded), shown: host(shown) };
  }
  return t;
}

/** RTP timestamps count 90 a millisecond and wrap at 2^32. */
const wrapMs = 2 ** 32 / 90;

/** When a picture was captured, ms of the host's time: the moment of its timestamp that is nearest. */
export function capturedAt(rtp: number, near: number): number {
  const at = rtp / 90;
  return at + Math.round((near - at) / wrapMs) * wrapMs;
}
