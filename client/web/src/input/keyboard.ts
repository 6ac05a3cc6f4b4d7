// The keyboard, hardware and soft. A hidden text field has the focus: it gives
// input methods and dead keys a place to compose, and phones a keyboard.

import { decide, type KeyPress } from './keys';
import { codeForKey, strokeFor } from './layout';
import { modifier, type Sender } from './sender';
import { change } from './softtext';

export interface KeyboardHooks {
  command(name: 'leave' | 'stats'): void;
  /** A modifier of the toolbar is on. */
  sticky(): boolean;
  softChanged(shown: boolean): void;
}

/** Something to erase, so that a soft keyboard's Backspace is noticed. */
const filler = ' '.repeat(16);
/** The field is emptied again before it grows past this. */
const longField = 200;
/** Scripts whose letters are final as they are composed (soft keyboards compose even English). */
const plain = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{M}\p{N}\p{P}\p{S}\s]*$/u;

/** A modifier's flag of a key event, its keys' codes, and its name. */
const modifiers = [
  ['ctrlKey', 'Control'],
  ['altKey', 'Alt'],
  ['shiftKey', 'Shift'],
  ['metaKey', 'Meta'],
] as const;

export class Keyboard {
  /** The soft keyboard was asked for. */
  soft = false;

  private readonly mac = /Mac|iPhone|iPad/.test(navigator.platform);
  private sent = new Map<string, string>();
  /** Modifiers pressed on the host for one key, because their own press was never seen. */
  private borrowed = new Set<string>();
  private shown = filler;
  private composing = false;
  private afterDead = false;
  private rightOption = false;

  constructor(
    readonly field: HTMLTextAreaElement,
    private readonly sender: Sender,
    private readonly hooks: KeyboardHooks,
  ) {
    field.value = filler;
    field.addEventListener('keydown', (e) => this.keyDown(e));
    field.addEventListener('keyup', (e) => this.keyUp(e));
    field.addEventListener('compositionstart', () => (this.composing = true));
    field.addEventListener('compositionend', () => {
      this.composing = false;
      this.flush();
    });
    field.addEventListener('input', () => this.flush());
    field.addEventListener('blur', () => this.blurred());
  }

  focus(): void {
    if (document.activeElement !== this.field) this.field.focus({ preventScroll: true });
  }

  /** Shows or hides the soft keyboard; call it inside a tap. */
  showSoft(show: boolean): void {
    this.soft = show;
    this.field.inputMode = show ? 'text' : 'none';
    this.field.blur();
    this.soft = show;
    this.field.focus({ preventScroll: true });
    this.hooks.softChanged(show);
  }

  /** The person put the soft keyboard away by other means. */
  softGone(): void {
    this.soft = false;
    this.field.inputMode = 'none';
    this.hooks.softChanged(false);
  }

  releaseAll(): void {
    this.sent.clear();
    this.borrowed.clear();
    this.afterDead = false;
    this.rightOption = false;
    this.sender.release();
  }

  private keyDown(e: KeyboardEvent): void {
    const verdict = decide(press(e, this.composing), {
      mac: this.mac,
      afterDead: this.afterDead,
      rightOption: this.rightOption,
      sticky: this.hooks.sticky(),
      fullScreen: document.fullscreenElement !== null,
    });
    if (this.mac && e.code === 'AltRight') this.rightOption = true;
    if (!modifier(e.code) && e.key !== 'AltGraph') this.afterDead = e.key === 'Dead';
    if (verdict.act === 'browser' || verdict.act === 'compose') return;
    if (verdict.act !== 'command' && !this.sender.allowed) return;
    e.preventDefault();
    switch (verdict.act) {
      case 'command':
        if (!e.repeat) this.command(verdict.command);
        return;
      case 'text':
        this.liftAlt(e);
        this.sender.text(verdict.text);
        return;
      case 'nothing':
        if (e.key === 'AltGraph') this.liftAlt(e);
        return;
      case 'key':
        this.pressKey(e, verdict.code);
    }
  }

  private pressKey(e: KeyboardEvent, code: string): void {
    if (e.repeat && this.sender.holds(code)) return; // The host repeats by itself.
    this.agree(e, code);
    this.sent.set(e.code, code);
    this.sender.keyDown(code, e.key);
    // A Mac gives no keyup for what was pressed while Command is down.
    if (this.mac && e.metaKey && !modifier(code)) this.sender.keyUp(code);
  }

  private keyUp(e: KeyboardEvent): void {
    if (this.mac && e.code === 'AltRight') this.rightOption = false;
    const code = this.sent.get(e.code) ?? (e.code || codeForKey(e.key));
    this.sent.delete(e.code);
    if (!this.sender.holds(code)) return;
    e.preventDefault();
    this.sender.keyUp(code);
    if (modifier(code)) return;
    for (const b of this.borrowed) this.sender.keyUp(b);
    this.borrowed.clear();
  }

  /**
   * Brings the host's modifiers in line with the event's: one may have been
   * pressed before the focus came here, or let go of while it was elsewhere.
   */
  private agree(e: KeyboardEvent, code: string): void {
    if (modifier(code)) {
      this.borrowed.delete(code);
      return;
    }
    for (const [flag, name] of modifiers) {
      const held = [`${name}Left`, `${name}Right`].filter((c) => this.sender.holds(c));
      if (e[flag] && held.length === 0) {
        this.borrowed.add(`${name}Left`);
        this.sender.keyDown(`${name}Left`, name);
      } else if (!e[flag] && !this.hooks.sticky()) {
        for (const c of held) this.sender.keyUp(c);
      }
    }
  }

  private command(name: 'leave' | 'stats'): void {
    this.releaseAll();
    this.hooks.command(name);
  }

  /** AltGr arrives as Ctrl+Alt on Windows and Option on a Mac: neither is meant. */
  private liftAlt(e: KeyboardEvent): void {
    const codes = ['AltLeft', 'AltRight'];
    if (e.getModifierState('AltGraph') || e.key === 'AltGraph') codes.push('ControlLeft');
    for (const code of codes) this.sender.keyUp(code);
  }

  /** Sends what the field gained and lost since the last time. */
  private flush(): void {
    const c = change(this.shown, this.field.value);
    const settled = !this.composing || (this.soft && plain.test(c.insert));
    if (!settled) return;
    this.shown = this.field.value;
    for (let i = 0; i < c.erase; i++) this.sender.tap('Backspace', 'Backspace');
    c.insert.split(/\r?\n/).forEach((line, i) => {
      if (i > 0) this.sender.tap('Enter', 'Enter');
      if (line) this.type(line);
    });
    if (!this.composing) this.refill();
  }

  private type(text: string): void {
    const stroke = this.hooks.sticky() ? strokeFor(text) : null;
    if (!stroke) {
      this.sender.text(text);
      return;
    }
    if (stroke.shift) this.sender.keyDown('ShiftRight', 'Shift');
    this.sender.tap(stroke.code, text);
    if (stroke.shift) this.sender.keyUp('ShiftRight');
  }

  private refill(): void {
    const length = this.field.value.length;
    if (this.soft && length >= filler.length && length < longField) return;
    this.field.value = this.shown = filler;
    this.field.setSelectionRange(filler.length, filler.length);
  }

  private blurred(): void {
    this.composing = false;
    this.field.value = this.shown = filler;
    this.releaseAll();
    if (this.soft) this.softGone();
  }
}

function press(e: KeyboardEvent, composing: boolean): KeyPress {
  return {
    code: e.code,
    key: e.key,
    ctrlKey: e.ctrlKey,
    altKey: e.altKey,
    shiftKey: e.shiftKey,
    metaKey: e.metaKey,
    altGraph: e.getModifierState('AltGraph'),
    composing: composing || e.isComposing || e.keyCode === 229,
  };
}
