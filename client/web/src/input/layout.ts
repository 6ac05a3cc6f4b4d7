// The US layout by physical code: what a host of unknown layout most likely
// shares with the viewer, and how typed characters find a key for a shortcut.

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const rows: [string, string][] = [
  ['Backquote', '`~'], ['Minus', '-_'], ['Equal', '=+'], ['BracketLeft', '[{'], ['BracketRight', ']}'],
  ['Backslash', '\\|'], ['Semicolon', ';:'], ['Quote', '\'"'], ['Comma', ',<'], ['Period', '.>'],
  ['Slash', '/?'], ['Space', '  '],
];
const digitsShifted = ')!@#$%^&*(';

const byCode = new Map<string, string>(rows);
for (const c of letters) byCode.set(`Key${c}`, c.toLowerCase() + c);
for (let i = 0; i < 10; i++) byCode.set(`Digit${i}`, `${i}${digitsShifted[i]}`);

/** The character that a US keyboard gives, or "" for keys without one. */
export function usChar(code: string, shift: boolean): string {
  return byCode.get(code)?.[shift ? 1 : 0] ?? '';
}

export interface Stroke {
  code: string;
  shift: boolean;
}

/** The key of a US keyboard that gives a character, or null. */
export function strokeFor(char: string): Stroke | null {
  for (const [code, pair] of byCode) {
    const at = pair.indexOf(char);
    if (char.length === 1 && at >= 0) return { code, shift: at === 1 };
  }
  return null;
}

/** Codes for named keys that arrive without one, as from some soft keyboards. */
const namedCodes: Record<string, string> = {
  Enter: 'Enter', Backspace: 'Backspace', Tab: 'Tab', Escape: 'Escape', Delete: 'Delete',
  ArrowLeft: 'ArrowLeft', ArrowRight: 'ArrowRight', ArrowUp: 'ArrowUp', ArrowDown: 'ArrowDown',
  Home: 'Home', End: 'End', PageUp: 'PageUp', PageDown: 'PageDown', Insert: 'Insert',
  Shift: 'ShiftLeft', Control: 'ControlLeft', Alt: 'AltLeft', Meta: 'MetaLeft',
};

export function codeForKey(key: string): string {
  return namedCodes[key] ?? (/^F([1-9]|1\d|2[0-4])$/.test(key) ? key : '');
}
