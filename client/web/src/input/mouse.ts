// Mouse and pen: moves, buttons, wheel, with coordinates of the picture.

import type { Stage } from '../stage';
import type { Sender } from './sender';
import { units } from './wheel';

export interface MouseHooks {
  /** The mouse is over the window at this place, or has left it (null). */
  hover(at: { x: number; y: number } | null): void;
  /** A press gives the desktop the keyboard. */
  engage(): void;
}

/** Pixels of a trackpad pinch that make a factor of e, as browsers send them. */
const pinchScale = 100;

export class Mouse {
  constructor(
    private readonly stage: Stage,
    private readonly sender: Sender,
    private readonly hooks: MouseHooks,
  ) {
    const el = stage.element;
    el.addEventListener('pointermove', (e) => this.moved(e));
    el.addEventListener('pointerdown', (e) => this.pressed(e));
    el.addEventListener('pointerup', (e) => this.released(e));
    el.addEventListener('pointercancel', (e) => this.released(e));
    el.addEventListener('pointerleave', (e) => {
      if (e.pointerType !== 'touch') hooks.hover(null);
    });
    el.addEventListener('wheel', (e) => this.turned(e), { passive: false });
    el.addEventListener('contextmenu', (e) => e.preventDefault());
    el.addEventListener('dragstart', (e) => e.preventDefault());
    // Side buttons would go back in the browser's history.
    el.addEventListener('mouseup', (e) => e.button > 2 && e.preventDefault());
    // The focus stays where engage puts it. A prevented pointerdown would do
    // this for the first button only, and take the mousedown of the others away.
    el.addEventListener('mousedown', (e) => e.preventDefault());
  }

  // Chords: a second button pressed or released while one is held arrives as
  // pointermove, told apart by e.button.
  private moved(e: PointerEvent): void {
    if (e.pointerType === 'touch') return;
    this.hooks.hover({ x: e.clientX, y: e.clientY });
    this.stage.followMouse(e.clientX, e.clientY);
    if (e.button >= 0) this.change(e, (e.buttons & maskOf(e.button)) !== 0);
    else this.sender.move(this.stage.spot(e.clientX, e.clientY).spot);
  }

  private pressed(e: PointerEvent): void {
    if (e.pointerType === 'touch') return;
    this.hooks.engage();
    this.change(e, true);
  }

  private released(e: PointerEvent): void {
    if (e.pointerType === 'touch') return;
    if (e.button >= 0) this.change(e, false);
    else this.sender.release();
  }

  private change(e: PointerEvent, down: boolean): void {
    const { spot, inside } = this.stage.spot(e.clientX, e.clientY);
    if (down && !inside && !this.sender.holdsButton) return;
    // Capture keeps a drag going outside the window.
    if (down) this.stage.element.setPointerCapture(e.pointerId);
    this.sender.button(e.button, down, spot);
  }

  private turned(e: WheelEvent): void {
    e.preventDefault();
    // A trackpad pinch arrives as a wheel with Ctrl that nobody pressed.
    if (e.ctrlKey && !this.sender.holds('ControlLeft') && !this.sender.holds('ControlRight')) {
      this.stage.zoomBy(Math.exp(-e.deltaY / pinchScale), e.clientX, e.clientY);
      return;
    }
    const { dx, dy } = units(e);
    if (dx || dy) this.sender.wheel(dx, dy, this.stage.spot(e.clientX, e.clientY).spot);
  }
}

/** The bit of PointerEvent.buttons for a PointerEvent.button. */
function maskOf(button: number): number {
  return [1, 4, 2, 8, 16][button] ?? 0;
}
