// Full screen, with the keyboard lock where the browser has it.

interface LockableKeyboard {
  lock?(): Promise<void>;
  unlock?(): void;
}

function keyboard(): LockableKeyboard | undefined {
  return (navigator as { keyboard?: LockableKeyboard }).keyboard;
}

export function isFull(): boolean {
  return document.fullscreenElement !== null;
}

export async function toggleFull(): Promise<void> {
  try {
    if (isFull()) await document.exitFullscreen();
    else await document.documentElement.requestFullscreen({ navigationUI: 'hide' });
  } catch {
    // Refused outside a click, or by policy: the page stays as it is.
  }
}

/** Follows the change: system shortcuts go to the desktop while in full screen. */
export async function lockKeys(): Promise<void> {
  try {
    if (isFull()) await keyboard()?.lock?.();
    else keyboard()?.unlock?.();
  } catch {
    // Withheld on plain HTTP; the shortcuts then stay with the system.
  }
}
