// How long to wait before the next try to connect.

const firstMs = 500;
const mostMs = 5000;

/** Doubles from half a second to five seconds; reset starts over. */
export class Backoff {
  private waitMs = firstMs;

  next(): number {
    const wait = this.waitMs;
    this.waitMs = Math.min(mostMs, wait * 2);
    return wait;
  }

  reset(): void {
    this.waitMs = firstMs;
  }
}
