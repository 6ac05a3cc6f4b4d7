// Collects the values of one second. The same arithmetic as the host's.

import type { Spread } from './logschema';

const mostValues = 4096;

export class Sum {
  private values: number[] = [];

  add(v: number): void {
    if (Number.isFinite(v) && this.values.length < mostValues) this.values.push(v);
  }

  /** What was added since the last take; undefined when that was nothing. */
  take(): Spread | undefined {
    const all = this.values.sort((a, b) => a - b);
    const n = all.length;
    if (n === 0) return undefined;
    this.values = [];
    const mean = all.reduce((sum, v) => sum + v, 0) / n;
    return { n, mean: hundredth(mean), p95: hundredth(all[Math.ceil(n * 0.95) - 1] ?? 0), max: hundredth(all[n - 1] ?? 0) };
  }
}

export function hundredth(v: number): number {
  return Math.round(v * 100) / 100;
}
