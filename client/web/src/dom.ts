// A short way to build elements.

import { icon, mark, type IconName } from './icons';

export type Child = Node | string | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((e: never) => void);

/**
 * Makes an element. "class" and attributes are taken as they are, "testid"
 * becomes data-testid, "onclick" and its like become listeners, true is an
 * empty attribute, false, null and undefined leave it out.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') {
      el.addEventListener(name.slice(2), value as EventListener);
    } else if (value !== false && value !== null && value !== undefined) {
      el.setAttribute(name === 'testid' ? 'data-testid' : name, value === true ? '' : String(value));
    }
  }
  el.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false && c !== ''));
  return el;
}

/** A button that shows an icon and speaks its label. */
export function iconButton(name: IconName, label: string, testid: string, onclick: () => void): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'tool', testid, 'aria-label': label, title: label, onclick });
  button.append(icon(name));
  return button;
}

export function wordmark(): HTMLElement {
  return h('span', { class: 'wordmark' }, mark(), h('span', {}, 'nearglass'));
}

/** A part of the page that can be put away. */
export interface Page {
  element: HTMLElement;
  dispose(): void;
}

/** Says something through the live region; the same words twice are said once. */
export function announce(words: string): void {
  const live = document.getElementById('live');
  if (live && live.textContent !== words) live.textContent = words;
}

/** What plain HTTP makes the browser withhold, or null on a secure page. */
export function insecureNote(): HTMLElement | null {
  if (window.isSecureContext) return null;
  return h(
    'p',
    { class: 'fine', testid: 'insecure-note' },
    'This page came over plain HTTP, so the browser withholds the clipboard and the keyboard lock (system shortcuts in full screen). All else works.',
  );
}
