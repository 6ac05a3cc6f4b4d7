// How long an input takes to be seen. Now and then one is marked; the host names
// the first picture that it captured after the input was done, and that picture's
// way to the screen is known here. Whatever else moves meanwhile, and a picture
// that the host only sharpened, count for nothing. Pure.

/** An input that was seen. */
export interface Effect {
  /** From the input until the picture was on the screen. */
  ms: number;
  /** RTP timestamp of that picture. */
  rtp: number;
}

/** As often is enough for a figure a second, and nothing beside what input costs. */
const leastGapMs = 250;
/** The host gives up after two seconds. */
const patienceMs = 2500;
/** A second of pictures: more than the host's word takes to come. */
const mostShown = 64;

export class Marks {
  private asked: { n: number; at: number; rtp: number | null } | null = null;
  private shownLast: { rtp: number; at: number }[] = [];
  private count = 0;
  private askedAt = -Infinity;

  constructor(private readonly seen: (e: Effect) => void) {}

  reset(): void {
    this.asked = null;
    this.shownLast = [];
  }

  /** An input is about to be sent: gives the number to mark it with, or null. */
  next(now: number): number | null {
    const waits = this.asked !== null && now - this.asked.at < patienceMs;
    if (waits || now - this.askedAt < leastGapMs) return null;
    this.count = (this.count + 1) >>> 0;
    this.asked = { n: this.count, at: now, rtp: null };
    this.askedAt = now;
    return this.count;
  }

  /** The host named the picture. It may have been shown before its name came. */
  named(n: number, rtp: number): void {
    if (this.asked?.n !== n || this.asked.rtp !== null) return;
    this.asked.rtp = rtp;
    const all = this.shownLast;
    const first = all.findIndex((p) => !before(p.rtp, rtp));
    // Whether an older one showed it as well is not known any more.
    if (first === 0 && all.length === mostShown && all[0]?.rtp !== rtp) this.asked = null;
    else if (first >= 0) this.found(all[first]);
  }

  /** A picture is on the screen; at is on the clock of next. */
  shown(rtp: number, at: number): void {
    this.shownLast.push({ rtp, at });
    if (this.shownLast.length > mostShown) this.shownLast.shift();
    // The picture itself, or one that came in its place.
    if (this.asked && this.asked.rtp !== null && !before(rtp, this.asked.rtp)) this.found({ rtp, at });
  }

  private found(p: { rtp: number; at: number } | undefined): void {
    const asked = this.asked;
    this.asked = null;
    if (asked && p && p.at >= asked.at) this.seen({ ms: p.at - asked.at, rtp: p.rtp });
  }
}

/** RTP timestamps wrap at 2^32. */
function before(a: number, b: number): boolean {
  return ((a - b) | 0) < 0;
}
