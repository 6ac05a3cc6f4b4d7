// Wheel turns in 1/120 of a notch, whatever the browser counts in. Pure.

export interface WheelTurn {
  deltaX: number;
  deltaY: number;
  deltaMode: number;
  /** Older than the standard, but the one figure that says what a notch is. */
  wheelDeltaX?: number;
  wheelDeltaY?: number;
}

export const notch = 120;
/** Chromium and Safari scroll 100 CSS pixels a notch, Firefox three lines. */
const pixelsPerNotch = 100;
const linesPerNotch = 3;
/** A page is about as much as ten notches of three lines. */
const notchesPerPage = 10;
/** One event never turns further: a stuck or hostile device stays harmless. */
const mostUnits = 100 * notch;

export function units(e: WheelTurn): { dx: number; dy: number } {
  return { dx: axis(e.deltaX, e.wheelDeltaX, e.deltaMode), dy: axis(e.deltaY, e.wheelDeltaY, e.deltaMode) };
}

function axis(delta: number, legacy: number | undefined, mode: number): number {
  if (!delta) return 0;
  let value = perMode(delta, mode);
  if (legacy && Number.isFinite(legacy) && Math.sign(legacy) === -Math.sign(delta)) value = -legacy;
  return Math.max(-mostUnits, Math.min(mostUnits, Math.round(value * 100) / 100));
}

function perMode(delta: number, mode: number): number {
  switch (mode) {
    case 1:
      return (delta * notch) / linesPerNotch;
    case 2:
      return delta * notch * notchesPerPage;
    default:
      return (delta * notch) / pixelsPerNotch;
  }
}
