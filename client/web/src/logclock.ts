// Where this page's time lies in the host's, from pings on the control channel.

/**
 * Two clocks drift apart by at most this much: quartz is within 100 parts in a
 * million, and a clock that is being corrected within 500.
 */
const drift = 500e-6;

/** An estimate: the host's time is this page's plus offset, wrong by at most bound. */
export interface Estimate {
  offset: number;
  bound: number;
}

/** How long a ping was on its way to the host, and its answer on the way back. */
export interface Ways {
  down: number;
  up: number;
}

/**
 * Holds the interval in which the offset must lie. A ping that was sent at s and
 * answered with the host's time h by r says that it lies from h - r to h - s,
 * whatever the way there and back took. Each ping narrows the interval, and time
 * widens it by what the clocks can have drifted.
 */
export class LogClock {
  private least = -Infinity;
  private most = Infinity;
  private at = 0;

  /** @param grainMs how finely the page's clock tells time */
  constructor(private readonly grainMs = 0) {}

  /**
   * Takes an answer; times in ms. Gives by how much the clocks have moved apart
   * since the last one when that cannot be drift, and otherwise 0.
   */
  answered(sent: number, host: number, received: number): number {
    if (!(received >= sent) || !Number.isFinite(host)) return 0;
    const least = host - received - this.grainMs;
    const most = host - sent + this.grainMs;
    const aged = drift * Math.max(0, received - this.at);
    const before = this.estimate(received);
    this.least = Math.max(this.least - aged, least);
    this.most = Math.min(this.most + aged, most);
    this.at = received;
    if (this.least <= this.most) return 0;
    this.least = least;
    this.most = most;
    return (least + most) / 2 - (before?.offset ?? 0);
  }

  /** The two ways of a ping that was answered, each wrong by at most the bound of the estimate. */
  ways(sent: number, host: number, received: number): Ways {
    const offset = this.estimate(received)?.offset ?? 0;
    return { down: Math.max(0, received + offset - host), up: Math.max(0, host - sent - offset) };
  }

  /** The estimate at a time of the page; null before the first answer. */
  estimate(now: number): Estimate | null {
    if (this.least === -Infinity) return null;
    const aged = drift * Math.max(0, now - this.at);
    return { offset: (this.least + this.most) / 2, bound: (this.most - this.least) / 2 + aged };
  }
}

/** How finely a clock tells time: the least step that it is seen to take. */
export function grainOf(clock: () => number): number {
  let least = Infinity;
  let last = clock();
  const start = last;
  for (let i = 0, steps = 0; i < 100_000 && steps < 3; i++) {
    const now = clock();
    if (now > last) {
      least = Math.min(least, now - last);
      steps++;
    }
    if (now - start > 20) break;
    last = now;
  }
  return Number.isFinite(least) ? least : 1;
}
