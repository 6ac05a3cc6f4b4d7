// Samples the connection once a second and asks the host for its figures, while
// somebody wants them, and puts both together. While nobody does, it rests.

import type { Overlay } from './overlay';
import type { ControlMessage, HostStats } from './protocol';
import { Sampler, type About, type Figures } from './stats';

const periodMs = 1000;
/** One question to stats() keeps the host telling for this long. */
const leaseMs = 5000;
/** The host speaks once a second; older figures are no answer. */
const staleMs = 2500;

export class StatsDesk {
  private readonly sampler = new Sampler();
  private readonly timer: number;
  private host: HostStats | null = null;
  private heardAt = -Infinity;
  private leaseUntil = -Infinity;
  private asking = false;
  private waiting: (() => void)[] = [];

  constructor(
    private readonly overlay: Overlay,
    private readonly tell: (m: ControlMessage) => void,
    private readonly peer: () => RTCPeerConnection | null,
    private readonly about: () => About,
  ) {
    this.timer = window.setInterval(() => void this.tick(), periodMs);
  }

  dispose(): void {
    clearInterval(this.timer);
    for (const go of this.waiting.splice(0)) go();
  }

  reset(): void {
    this.sampler.reset();
    this.host = null;
    this.heardAt = -Infinity;
    this.asking = false;
  }

  heard(m: HostStats): void {
    this.host = m;
    this.heardAt = performance.now();
    for (const go of this.waiting.splice(0)) go();
  }

  /** Tells the host whether its figures are wanted; also after a new session. */
  ask(): void {
    const { wanted } = this;
    if (wanted !== this.asking) this.tell({ type: 'stats', on: wanted });
    this.asking = wanted;
    if (this.overlay.open) this.overlay.show(this.figures());
  }

  /** The figures now; waits up to about a second for the host's own. */
  async now(): Promise<Figures> {
    this.leaseUntil = performance.now() + leaseMs;
    this.ask();
    const pc = this.peer();
    if (pc) await this.sampler.take(pc);
    if (pc && performance.now() - this.heardAt > staleMs) {
      await Promise.race([
        new Promise<void>((resolve) => this.waiting.push(resolve)),
        new Promise((resolve) => setTimeout(resolve, periodMs * 1.2)),
      ]);
    }
    return this.figures();
  }

  private get wanted(): boolean {
    return this.overlay.open || performance.now() < this.leaseUntil;
  }

  private figures(): Figures {
    const fresh = performance.now() - this.heardAt < staleMs;
    return { ...this.about(), ...this.sampler.figures(), host: fresh ? this.host : null };
  }

  private async tick(): Promise<void> {
    this.ask();
    const pc = this.peer();
    if (!pc || document.hidden || (this.sampler.begun && !this.wanted)) return;
    await this.sampler.take(pc);
    if (this.overlay.open) this.overlay.show(this.figures());
  }
}
