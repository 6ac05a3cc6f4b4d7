// The one way to the input channel. It knows what is held, so that everything
// can be let go of, and whether this viewer may touch anything at all.

import type { InputMessage, Spot } from '../protocol';

/**
 * Beyond this many queued bytes the path is stuck: moves wait, and the newest
 * one makes the older ones worthless. A move is about 80 bytes.
 */
const crowdedBytes = 8192;
/** The host reads messages of up to 64 KiB; long pastes go in pieces. */
const textPiece = 2000;

export class Sender {
  /** False for a view-only device: then nothing leaves. */
  allowed = false;
  /** Called after a key that was not a modifier, for the sticky ones. */
  onKeyDone: () => void = () => {};
  /** Gives a number to mark the next input with, or null. */
  mark: () => number | null = () => null;
  /** Where the pointer was last sent to, in picture pixels, and when. */
  last: (Spot & { atMs: number }) | null = null;

  private channel: RTCDataChannel | null = null;
  private keys = new Map<string, string>();
  private buttons = new Set<number>();
  private pending: Spot | null = null;
  private frame = 0;

  attach(channel: RTCDataChannel | null): void {
    this.channel = channel;
    this.forget();
  }

  get holdsButton(): boolean {
    return this.buttons.size > 0;
  }

  holds(code: string): boolean {
    return this.keys.has(code);
  }

  /** Sends at once, then at most one move a frame: the newest. */
  move(spot: Spot): void {
    this.note(spot);
    if (this.frame || (this.channel && this.channel.bufferedAmount > crowdedBytes)) this.pending = spot;
    else this.send({ type: 'move', ...spot });
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      const next = this.pending;
      this.pending = null;
      if (next) this.move(next);
    });
  }

  button(button: number, down: boolean, spot: Spot): void {
    this.pending = null;
    if (down) this.buttons.add(button);
    else this.buttons.delete(button);
    this.note(spot);
    this.send({ type: 'button', button, down, ...spot });
    if (!down) this.onKeyDone();
  }

  wheel(dx: number, dy: number, spot: Spot): void {
    this.pending = null;
    this.note(spot);
    this.send({ type: 'wheel', dx, dy, ...spot });
  }

  keyDown(code: string, key: string): void {
    if (this.keys.has(code)) return;
    this.keys.set(code, key);
    this.send({ type: 'key', code, key, down: true });
  }

  keyUp(code: string): void {
    const key = this.keys.get(code);
    if (key === undefined) return;
    this.keys.delete(code);
    this.send({ type: 'key', code, key, down: false });
    if (!modifier(code)) this.onKeyDone();
  }

  tap(code: string, key: string): void {
    this.keyDown(code, key);
    this.keyUp(code);
  }

  text(text: string): void {
    const characters = [...text];
    for (let i = 0; i < characters.length; i += textPiece) {
      this.send({ type: 'text', text: characters.slice(i, i + textPiece).join('') });
    }
    this.onKeyDone();
  }

  /** Lets go of every key and button, here and on the host. */
  release(): void {
    this.pending = null;
    this.forget();
    this.send({ type: 'release' });
  }

  private forget(): void {
    this.keys.clear();
    this.buttons.clear();
  }

  private note(spot: Spot): void {
    this.last = { ...spot, atMs: performance.now() };
  }

  private send(message: InputMessage): void {
    if (!this.allowed || this.channel?.readyState !== 'open') return;
    const n = visible(message) ? this.mark() : null;
    if (n !== null) this.channel.send(JSON.stringify({ type: 'mark', n } satisfies InputMessage));
    this.channel.send(JSON.stringify(message));
  }
}

/** Tells the inputs that change a picture, as a rule. */
function visible(m: InputMessage): boolean {
  switch (m.type) {
    case 'key':
      return m.down && !modifier(m.code);
    case 'button':
      return m.down;
    default:
      return m.type === 'wheel' || m.type === 'text';
  }
}

export function modifier(code: string): boolean {
  return /^(Control|Alt|Shift|Meta)(Left|Right)$/.test(code);
}
