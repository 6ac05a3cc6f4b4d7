// Keys that a phone lacks, as a strip of buttons: sticky modifiers, Esc, Tab,
// arrows, function keys. Pressing one leaves the focus where it is.

import { h } from '../dom';
import { icon, type IconName } from '../icons';
import type { Sender } from './sender';

interface SoftKey {
  code: string;
  label: string;
  spoken?: string;
  icon?: IconName;
}

const modifiers: SoftKey[] = [
  { code: 'ControlLeft', label: 'Ctrl', spoken: 'Control' },
  { code: 'AltLeft', label: 'Alt' },
  { code: 'ShiftLeft', label: 'Shift' },
  { code: 'MetaLeft', label: 'Super' },
];

const plain: SoftKey[] = [
  { code: 'Escape', label: 'Esc', spoken: 'Escape' },
  { code: 'Tab', label: 'Tab' },
  { code: 'Delete', label: 'Del', spoken: 'Delete' },
];

const arrows: SoftKey[] = [
  { code: 'ArrowLeft', label: '', spoken: 'Left arrow', icon: 'left' },
  { code: 'ArrowUp', label: '', spoken: 'Up arrow', icon: 'up' },
  { code: 'ArrowDown', label: '', spoken: 'Down arrow', icon: 'down' },
  { code: 'ArrowRight', label: '', spoken: 'Right arrow', icon: 'right' },
];

const moves: SoftKey[] = [
  { code: 'Home', label: 'Home' },
  { code: 'End', label: 'End' },
  { code: 'PageUp', label: 'PgUp', spoken: 'Page up' },
  { code: 'PageDown', label: 'PgDn', spoken: 'Page down' },
  { code: 'Insert', label: 'Ins', spoken: 'Insert' },
];

const functions: SoftKey[] = Array.from({ length: 12 }, (_, i) => ({ code: `F${i + 1}`, label: `F${i + 1}` }));

/** Keys repeat like hardware ones: after half a second, the host does it. */
const names: Record<string, string> = { ControlLeft: 'Control', AltLeft: 'Alt', ShiftLeft: 'Shift', MetaLeft: 'Meta' };

type Latch = 'once' | 'locked';

export class SoftKeys {
  readonly element: HTMLElement;
  private latched = new Map<string, Latch>();
  private buttons = new Map<string, HTMLButtonElement>();

  constructor(private readonly sender: Sender) {
    const row = (label: string, ...groups: HTMLElement[][]): HTMLElement =>
      h('div', { class: 'key-row', role: 'group', 'aria-label': label }, ...groups.flat());
    const keys = (list: SoftKey[]): HTMLElement[] => list.map((k) => this.key(k));
    this.element = h(
      'div',
      { class: 'keys', role: 'toolbar', 'aria-label': 'Keys', testid: 'softkeys', hidden: true },
      row('Function and editing keys', keys(functions), keys(moves)),
      row('Keys', keys(plain).slice(0, 2), modifiers.map((k) => this.modifier(k)), keys(arrows), keys(plain).slice(2)),
    );
    // The text field must keep the focus, or the soft keyboard would close.
    this.element.addEventListener('pointerdown', (e) => e.preventDefault());
    this.element.addEventListener('mousedown', (e) => e.preventDefault());
  }

  get sticky(): boolean {
    return this.latched.size > 0;
  }

  /** A key has been pressed: modifiers for one key let go. */
  keyDone(): void {
    for (const [code, latch] of this.latched) if (latch === 'once') this.unlatch(code);
  }

  /** The host lets go of everything; so do the buttons. */
  reset(): void {
    for (const code of [...this.latched.keys()]) this.unlatch(code);
  }

  private key(k: SoftKey): HTMLButtonElement {
    const press = (): void => this.sender.keyDown(k.code, k.code);
    const lift = (): void => this.sender.keyUp(k.code);
    const button = h('button', {
      type: 'button',
      class: 'key',
      testid: `key-${k.code}`,
      'aria-label': k.spoken ?? k.label,
      onpointerdown: press,
      onpointerup: lift,
      onpointerleave: lift,
      onpointercancel: lift,
      // Enter, Space and screen readers click without a pointer.
      onclick: (e: MouseEvent) => e.detail === 0 && this.sender.tap(k.code, k.code),
    });
    button.append(k.icon ? icon(k.icon) : k.label);
    return button;
  }

  private modifier(k: SoftKey): HTMLButtonElement {
    const button = h('button', {
      type: 'button',
      class: 'key sticky',
      testid: `key-${k.code}`,
      'aria-pressed': 'false',
      'aria-label': k.spoken ?? k.label,
      title: `${k.spoken ?? k.label}: tap for one key, again to lock, again to let go`,
      onclick: () => this.cycle(k.code),
    }, k.label);
    this.buttons.set(k.code, button);
    return button;
  }

  private cycle(code: string): void {
    const now = this.latched.get(code);
    if (now === 'locked') {
      this.unlatch(code);
      return;
    }
    this.latched.set(code, now === 'once' ? 'locked' : 'once');
    this.sender.keyDown(code, names[code] ?? code);
    this.show(code);
  }

  private unlatch(code: string): void {
    this.latched.delete(code);
    this.sender.keyUp(code);
    this.show(code);
  }

  private show(code: string): void {
    const button = this.buttons.get(code);
    const latch = this.latched.get(code);
    button?.setAttribute('aria-pressed', String(latch !== undefined));
    button?.classList.toggle('locked', latch === 'locked');
  }
}
