// What becomes of one key press. Pure, so that every rule has its test.

import { codeForKey, usChar } from './layout';

export interface KeyPress {
  code: string;
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  metaKey: boolean;
  /** getModifierState("AltGraph"). */
  altGraph: boolean;
  /** isComposing, or keyCode 229: an input method has the key. */
  composing: boolean;
}

export interface KeyContext {
  mac: boolean;
  /** The press before this one was a dead key. */
  afterDead: boolean;
  /** The right Option key of a Mac is down; it stands for AltGr. */
  rightOption: boolean;
  /** A toolbar modifier is on, so a character means a shortcut. */
  sticky: boolean;
  fullScreen: boolean;
}

export type Verdict =
  /** Sent as the physical key with this code. */
  | { act: 'key'; code: string }
  /** Sent as a character; no key is then held on the host. */
  | { act: 'text'; text: string }
  /** Left to the browser's input method; its text is sent when it is done. */
  | { act: 'compose' }
  /** Done by the viewer itself. */
  | { act: 'command'; command: 'leave' | 'stats' }
  /** Left to the browser. */
  | { act: 'browser' }
  /** Swallowed: it means nothing to the host. */
  | { act: 'nothing' };

/** Their state is the viewer's own; the host gets the characters they make. */
const locks = new Set(['CapsLock', 'NumLock', 'ScrollLock']);

/** The keypad without NumLock: the host's own NumLock must not matter. */
const keypadMoves: Record<string, string> = {
  Home: 'Home', End: 'End', PageUp: 'PageUp', PageDown: 'PageDown', Insert: 'Insert', Delete: 'Delete',
  ArrowLeft: 'ArrowLeft', ArrowRight: 'ArrowRight', ArrowUp: 'ArrowUp', ArrowDown: 'ArrowDown',
};

/**
 * Decides for a keydown. A character goes as its physical key where a US
 * keyboard gives the same character there: the host then sees presses, holds
 * and shortcuts. Where the viewer's layout gives another character, or AltGr,
 * a dead key or a lock made it, it goes as text, so that what is typed is what
 * was meant whatever the host's layout is.
 */
export function decide(k: KeyPress, c: KeyContext): Verdict {
  const command = ownCommand(k);
  if (command) return { act: 'command', command };
  if (k.code === 'F11' && !c.fullScreen) return { act: 'browser' };
  if (k.composing || k.key === 'Process') return { act: 'compose' };
  if (k.key === 'Dead') return { act: 'compose' };
  if (k.key === 'AltGraph' || locks.has(k.key)) return { act: 'nothing' };
  if (c.mac && k.code === 'AltRight') return { act: 'nothing' };
  if ([...k.key].length === 1) return character(k, c);
  return named(k);
}

function ownCommand(k: KeyPress): 'leave' | 'stats' | '' {
  if (!k.ctrlKey || !k.altKey || !k.shiftKey || k.metaKey) return '';
  if (k.code === 'KeyQ') return 'leave';
  return k.code === 'KeyS' ? 'stats' : '';
}

function named(k: KeyPress): Verdict {
  if (k.code.startsWith('Numpad') && keypadMoves[k.key]) return { act: 'key', code: keypadMoves[k.key] ?? '' };
  const code = k.code || codeForKey(k.key);
  if (code && code !== 'Unidentified') return { act: 'key', code };
  return k.key === 'Unidentified' ? { act: 'compose' } : { act: 'nothing' };
}

function character(k: KeyPress, c: KeyContext): Verdict {
  if (c.afterDead) return { act: 'compose' };
  if (k.altGraph || c.rightOption || optionSymbol(k, c)) return { act: 'text', text: k.key };
  if (!k.code) return { act: 'text', text: k.key };
  if (k.ctrlKey || k.altKey || k.metaKey || c.sticky) return { act: 'key', code: k.code };
  if (k.code.startsWith('Numpad')) {
    return /[\d.,]/.test(k.key) ? { act: 'text', text: k.key } : { act: 'key', code: k.code };
  }
  return usChar(k.code, k.shiftKey) === k.key ? { act: 'key', code: k.code } : { act: 'text', text: k.key };
}

/** A Mac's left Option is Alt, except where it makes a sign that a US key has. */
function optionSymbol(k: KeyPress, c: KeyContext): boolean {
  if (!c.mac || !k.altKey || k.ctrlKey || k.metaKey) return false;
  return /^[@[\]{}|\\~#]$/.test(k.key) && usChar(k.code, k.shiftKey) !== k.key;
}
