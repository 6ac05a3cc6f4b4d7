// Fingers: feeds the gestures and does what they say.

import { h } from '../dom';
import type { Stage } from '../stage';
import { Gestures, type Action } from './gestures';
import type { Sender } from './sender';
import { notch } from './wheel';

export interface TouchHooks {
  touched(): void;
}

/** A finger's way of this many CSS pixels is one notch of the wheel. */
const pixelsPerNotch = 40;

export class Touching {
  private readonly gestures = new Gestures();
  private readonly ring = h('div', { class: 'touch-ring', 'aria-hidden': 'true' });
  private timer = 0;

  constructor(
    private readonly stage: Stage,
    private readonly sender: Sender,
    hooks: TouchHooks,
  ) {
    const el = stage.element;
    el.append(this.ring);
    el.addEventListener('pointerdown', (e) => {
      if (e.pointerType !== 'touch') return;
      e.preventDefault();
      hooks.touched();
      el.setPointerCapture(e.pointerId);
      this.act(this.gestures.down(touch(e), e.timeStamp));
    });
    el.addEventListener('pointermove', (e) => {
      if (e.pointerType === 'touch') this.act(this.gestures.move(touch(e), stage.zoomed));
    });
    el.addEventListener('pointerup', (e) => {
      if (e.pointerType === 'touch') this.act(this.gestures.up(e.pointerId, e.timeStamp));
    });
    el.addEventListener('pointercancel', (e) => {
      if (e.pointerType === 'touch') this.act(this.gestures.cancel());
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private act(actions: Action[]): void {
    for (const a of actions) this.one(a);
    clearTimeout(this.timer);
    const { wakeAt } = this.gestures;
    if (wakeAt) {
      this.timer = window.setTimeout(() => this.act(this.gestures.wake(wakeAt)), Math.max(0, wakeAt - performance.now()));
    }
    if (!actions.some((a) => a.do === 'hold')) this.ring.classList.remove('on');
  }

  private one(a: Action): void {
    switch (a.do) {
      case 'click':
        this.click(a.button, a.x, a.y);
        return;
      case 'move':
        this.sender.move(this.stage.spot(a.x, a.y).spot);
        return;
      case 'down':
      case 'up':
        this.sender.button(0, a.do === 'down', this.stage.spot(a.x, a.y).spot);
        return;
      case 'pan':
        this.stage.pan(a.dx, a.dy);
        return;
      case 'zoom':
        this.stage.pan(a.dx, a.dy);
        this.stage.zoomBy(a.factor, a.x, a.y);
        return;
      case 'scroll': {
        const per = -notch / pixelsPerNotch;
        this.sender.wheel(a.dx * per, a.dy * per, this.stage.spot(a.x, a.y).spot);
        return;
      }
      case 'hold':
        this.hold(a.x, a.y);
    }
  }

  private click(button: number, x: number, y: number): void {
    const { spot, inside } = this.stage.spot(x, y);
    if (!inside) return;
    this.sender.move(spot);
    this.sender.button(button, true, spot);
    this.sender.button(button, false, spot);
  }

  /** A long press has become a right click, which comes when the finger lifts. */
  private hold(x: number, y: number): void {
    if (!this.sender.allowed) return;
    this.ring.style.left = `${x}px`;
    this.ring.style.top = `${y}px`;
    this.ring.classList.add('on');
    navigator.vibrate?.(12);
  }
}

function touch(e: PointerEvent): { id: number; x: number; y: number } {
  return { id: e.pointerId, x: e.clientX, y: e.clientY };
}
