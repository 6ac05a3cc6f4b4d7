// Keeps a session with the host alive: ICE restart first, then a new session,
// with growing pauses, and at once when the network or the person comes back.

import { ApiError } from './api';
import { Backoff } from './backoff';
import { WhepSession } from './whep';

export interface ConnectionHooks {
  /** A new session is being set up: everything of the one before is void. */
  session(s: WhepSession): void;
  connected(): void;
  /** The path is gone and being mended; why in the host's words, or "". */
  lost(why: string): void;
  /** Trying again would not help. */
  failed(why: string): void;
  /** This browser is not paired, or no longer. */
  unpaired(): void;
}

/** libwebrtc says "disconnected" after about 5 s without an answer; most blips heal in two more. */
const blipMs = 2000;
/** An ICE restart over a reachable network takes a round trip or two. */
const restartMs = 4000;
/** A first connection includes DTLS; a host that has not managed it by now never will. */
const connectMs = 10000;

export class Connection {
  private current: WhepSession | null = null;
  private backoff = new Backoff();
  private timer = 0;
  private waiting = false;
  /** A session has been connected once: the source exists, or did. */
  private met = false;
  private restarting = false;
  private closed = false;

  constructor(
    private readonly sourceId: string,
    private readonly hooks: ConnectionHooks,
  ) {
    window.addEventListener('online', this.networkBack);
    document.addEventListener('visibilitychange', this.personBack);
    network()?.addEventListener('change', this.networkBack);
  }

  start(): void {
    void this.attempt();
  }

  get session(): WhepSession | null {
    return this.current;
  }

  close(): void {
    this.closed = true;
    window.removeEventListener('online', this.networkBack);
    document.removeEventListener('visibilitychange', this.personBack);
    network()?.removeEventListener('change', this.networkBack);
    this.drop();
  }

  /** The session is of no more use: a new one, soon. */
  replace(why: string): void {
    if (this.closed || this.waiting) return;
    this.drop();
    this.hooks.lost(why);
    this.waiting = true;
    this.after(this.backoff.next(), () => void this.attempt());
  }

  private networkBack = (): void => {
    if (this.waiting) this.hurry();
    else if (this.current?.pc.connectionState === 'connected') void this.restart();
  };

  private personBack = (): void => {
    if (document.visibilityState === 'visible' && this.waiting) this.hurry();
  };

  private hurry(): void {
    this.backoff.reset();
    void this.attempt();
  }

  private async attempt(): Promise<void> {
    this.drop();
    if (this.closed) return;
    const s = new WhepSession(this.sourceId);
    this.current = s;
    this.hooks.session(s);
    s.pc.onconnectionstatechange = () => this.changed(s);
    s.control.onclose = () => this.current === s && this.replace('');
    try {
      await s.open();
    } catch (err) {
      if (this.current === s) this.refused(err);
      return;
    }
    if (this.current === s && s.pc.connectionState !== 'connected') {
      this.after(connectMs, () => this.replace('The host answered, but no path to it was found.'));
    }
  }

  private refused(err: unknown): void {
    const status = err instanceof ApiError ? err.status : 0;
    const why = err instanceof ApiError ? err.detail : '';
    if (status === 401) {
      this.close();
      this.hooks.unpaired();
    } else if (hopeless(err, status) || (status === 404 && !this.met)) {
      this.close();
      this.hooks.failed(why || 'The host did not accept this browser\u2019s offer.');
    } else {
      this.replace(why);
    }
  }

  private changed(s: WhepSession): void {
    if (this.current !== s) return;
    switch (s.pc.connectionState) {
      case 'connected':
        clearTimeout(this.timer);
        this.met = true;
        this.restarting = false;
        this.backoff.reset();
        this.hooks.connected();
        return;
      case 'disconnected':
        this.hooks.lost('');
        if (!this.restarting) this.after(blipMs, () => void this.restart());
        return;
      case 'failed':
        if (this.restarting) this.replace('');
        else void this.restart();
        return;
      case 'closed':
        this.replace('');
    }
  }

  private async restart(): Promise<void> {
    const s = this.current;
    if (!s || this.restarting) return;
    this.restarting = true;
    // A restart that changes nothing leaves the state at "connected".
    this.after(restartMs, () => {
      this.restarting = false;
      if (s.pc.connectionState !== 'connected') this.replace('');
    });
    try {
      await s.restart();
    } catch (err) {
      if (this.current !== s) return;
      this.restarting = false;
      if (err instanceof ApiError && err.status === 401) this.refused(err);
      else this.replace('');
    }
  }

  private drop(): void {
    clearTimeout(this.timer);
    this.waiting = false;
    this.restarting = false;
    const s = this.current;
    this.current = null;
    s?.close();
  }

  private after(ms: number, what: () => void): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(what, ms);
  }
}

/** Answers that the next try would get again: the offer itself is the matter. */
function hopeless(err: unknown, status: number): boolean {
  if (!(err instanceof ApiError)) return err instanceof DOMException && err.name === 'OperationError';
  return [400, 403, 406, 415, 422, 501].includes(status);
}

function network(): EventTarget | null {
  return (navigator as { connection?: EventTarget }).connection ?? null;
}
