// What the watch screen says about the stream: a small calm line while things
// mend themselves, a card when the person has to decide.

import { announce, h } from './dom';

export interface Choice {
  label: string;
  testid: string;
  primary?: boolean;
  act(): void;
}

/** A short blip should not flash a line. */
const patienceMs = 350;

/** Long enough to be read by somebody who looks elsewhere. */
const passingMs = 4000;

export class Notices {
  private readonly words = h('span', {});
  private readonly line = h('div', { class: 'notice', testid: 'notice', hidden: true }, h('span', { class: 'pulse', 'aria-hidden': 'true' }), this.words);
  private readonly card = h('div', { class: 'verdict', testid: 'verdict', role: 'alertdialog', 'aria-labelledby': 'verdict-title', 'aria-describedby': 'verdict-why', hidden: true });
  readonly element = h('div', { class: 'notices' }, this.line, this.card);
  private timer = 0;
  /** The line that is shown goes by itself. */
  private passing = false;

  dispose(): void {
    clearTimeout(this.timer);
  }

  clear(): void {
    clearTimeout(this.timer);
    this.passing = false;
    this.line.hidden = true;
    this.card.hidden = true;
    announce('');
  }

  /** Shows a line after a moment; quiet ones do not pulse. */
  say(words: string, working: boolean): void {
    clearTimeout(this.timer);
    this.passing = false;
    this.card.hidden = true;
    const show = (): void => {
      this.words.textContent = words;
      this.line.classList.toggle('working', working);
      this.line.hidden = false;
      announce(words);
    };
    if (this.line.hidden && working) this.timer = window.setTimeout(show, patienceMs);
    else show();
  }

  /** Says something in passing, unless something that lasts is said. */
  pass(words: string): void {
    const taken = !this.line.hidden || !this.card.hidden;
    if (taken && !this.passing) return;
    this.say(words, false);
    this.passing = true;
    this.timer = window.setTimeout(() => this.clear(), passingMs);
  }

  decide(title: string, why: string, choices: Choice[]): void {
    clearTimeout(this.timer);
    this.line.hidden = true;
    const buttons = choices.map((c) =>
      h('button', { type: 'button', class: c.primary ? 'button primary' : 'button', testid: c.testid, onclick: () => c.act() }, c.label),
    );
    this.card.replaceChildren(
      h('h2', { id: 'verdict-title' }, title),
      h('p', { id: 'verdict-why', testid: 'verdict-why' }, why),
      h('div', { class: 'choices' }, ...buttons),
    );
    this.card.hidden = false;
    buttons[0]?.focus();
    announce(`${title}. ${why}`);
  }
}

/** Makes a sentence of a reason such as "the window was closed". */
export function sentence(reason: string): string {
  const text = reason.trim();
  if (!text) return '';
  const end = /[.!?]$/.test(text) ? '' : '.';
  return text.charAt(0).toUpperCase() + text.slice(1) + end;
}
