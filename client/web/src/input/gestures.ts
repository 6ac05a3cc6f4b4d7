// Fingers into actions. Pure: touches with their times in, actions out; the
// caller says when wakeAt has come. Coordinates are CSS pixels of the window.

export interface Touch {
  id: number;
  x: number;
  y: number;
}

export type Action =
  | { do: 'click'; button: 0 | 2; x: number; y: number }
  | { do: 'move'; x: number; y: number }
  | { do: 'down' | 'up'; x: number; y: number }
  | { do: 'pan'; dx: number; dy: number }
  /** dx and dy are the fingers' way; content follows them. */
  | { do: 'scroll'; dx: number; dy: number; x: number; y: number }
  | { do: 'zoom'; factor: number; x: number; y: number; dx: number; dy: number }
  | { do: 'hold'; x: number; y: number };

/** Android's own touch slop is 8 dp and its long press 400 to 500 ms. */
const slopPx = 8;
const longPressMs = 450;
/** A second tap this soon and this near may become a drag. */
const doubleTapMs = 300;
const doubleTapPx = 28;
/** Two fingers that part by this much before they travel are pinching. */
const pinchPx = 22;
const travelPx = 12;
const twoTapMs = 350;

type Mode = 'idle' | 'pressed' | 'held' | 'moving' | 'panning' | 'dragging' | 'two' | 'scrolling' | 'pinching' | 'spent';

export class Gestures {
  /** The time at which wake wants to be called; 0 for never. */
  wakeAt = 0;

  private mode: Mode = 'idle';
  private fingers = new Map<number, Touch>();
  private start = { x: 0, y: 0, at: 0 };
  private last = { x: 0, y: 0 };
  private spread = 0;
  private startSpread = 0;
  private lastTap = { x: 0, y: 0, at: -Infinity };
  private second = false;

  down(t: Touch, now: number): Action[] {
    this.fingers.set(t.id, t);
    if (this.fingers.size === 1) return this.first(t, now);
    if (this.fingers.size === 2 && (this.mode === 'pressed' || this.mode === 'moving' || this.mode === 'panning')) {
      this.mode = 'two';
      this.wakeAt = 0;
      this.start = { ...this.middle(), at: now };
      this.last = this.middle();
      this.startSpread = this.spread = this.distance();
      return [];
    }
    return this.spend();
  }

  move(t: Touch, zoomed: boolean): Action[] {
    if (!this.fingers.has(t.id)) return [];
    this.fingers.set(t.id, t);
    if (this.mode === 'two' || this.mode === 'scrolling' || this.mode === 'pinching') return this.moveTwo();
    return this.moveOne(t, zoomed);
  }

  up(id: number, now: number): Action[] {
    const finger = this.fingers.get(id);
    if (!finger) return [];
    this.fingers.delete(id);
    const actions = this.lift(finger, now);
    if (this.fingers.size === 0) {
      this.mode = 'idle';
      this.wakeAt = 0;
    } else if (this.mode !== 'spent') {
      this.mode = 'spent';
    }
    return actions;
  }

  /** A long press has lasted long enough. */
  wake(now: number): Action[] {
    if (!this.wakeAt || now < this.wakeAt || this.mode !== 'pressed') return [];
    this.wakeAt = 0;
    this.mode = 'held';
    return [{ do: 'hold', x: this.start.x, y: this.start.y }];
  }

  /** The system took the fingers away: nothing is clicked, nothing stays held. */
  cancel(): Action[] {
    this.fingers.clear();
    const actions = this.spend();
    this.mode = 'idle';
    return actions;
  }

  private first(t: Touch, now: number): Action[] {
    this.mode = 'pressed';
    this.start = { x: t.x, y: t.y, at: now };
    this.last = { x: t.x, y: t.y };
    this.wakeAt = now + longPressMs;
    this.second = now - this.lastTap.at < doubleTapMs && far(this.lastTap, t) < doubleTapPx;
    return [];
  }

  private moveOne(t: Touch, zoomed: boolean): Action[] {
    const dx = t.x - this.last.x;
    const dy = t.y - this.last.y;
    if (this.mode === 'pressed') {
      if (far(this.start, t) < slopPx) return [];
      this.wakeAt = 0;
      this.last = { x: t.x, y: t.y };
      if (this.second) {
        this.mode = 'dragging';
        return [{ do: 'down', ...at(this.start) }, { do: 'move', x: t.x, y: t.y }];
      }
      this.mode = zoomed ? 'panning' : 'moving';
      return zoomed ? [{ do: 'pan', dx, dy }] : [{ do: 'move', x: t.x, y: t.y }];
    }
    this.last = { x: t.x, y: t.y };
    if (this.mode === 'panning') return [{ do: 'pan', dx, dy }];
    if (this.mode === 'moving' || this.mode === 'dragging') return [{ do: 'move', x: t.x, y: t.y }];
    return [];
  }

  private moveTwo(): Action[] {
    const mid = this.middle();
    const spread = this.distance();
    if (this.mode === 'two') {
      if (Math.abs(spread - this.startSpread) > pinchPx) this.mode = 'pinching';
      else if (far(this.start, mid) > travelPx) this.mode = 'scrolling';
      else return [];
    }
    const dx = mid.x - this.last.x;
    const dy = mid.y - this.last.y;
    const factor = this.spread > 0 ? spread / this.spread : 1;
    this.last = mid;
    this.spread = spread;
    if (this.mode === 'pinching') return [{ do: 'zoom', factor, x: mid.x, y: mid.y, dx, dy }];
    return [{ do: 'scroll', dx, dy, x: this.start.x, y: this.start.y }];
  }

  private lift(finger: Touch, now: number): Action[] {
    switch (this.mode) {
      case 'pressed':
        this.lastTap = { x: this.start.x, y: this.start.y, at: this.second ? -Infinity : now };
        return [{ do: 'click', button: 0, ...at(this.start) }];
      case 'held':
        return [{ do: 'click', button: 2, ...at(this.start) }];
      case 'dragging':
        return [{ do: 'up', x: finger.x, y: finger.y }];
      case 'two':
        return now - this.start.at < twoTapMs ? [{ do: 'click', button: 2, ...at(this.start) }] : [];
      default:
        return [];
    }
  }

  private spend(): Action[] {
    const dragging = this.mode === 'dragging';
    this.mode = 'spent';
    this.wakeAt = 0;
    return dragging ? [{ do: 'up', ...this.last }] : [];
  }

  private pair(): [Touch, Touch] {
    const [a, b] = [...this.fingers.values()];
    const none = { id: 0, x: 0, y: 0 };
    return [a ?? none, b ?? a ?? none];
  }

  private middle(): { x: number; y: number } {
    const [a, b] = this.pair();
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  }

  private distance(): number {
    const [a, b] = this.pair();
    return far(a, b);
  }
}

function at(p: { x: number; y: number }): { x: number; y: number } {
  return { x: p.x, y: p.y };
}

function far(a: { x: number; y: number }, b: { x: number; y: number }): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
