// The pairing screen.

import * as api from './api';
import { completeCode, deviceName, formatCode } from './device';
import { announce, h, insecureNote, wordmark, type Page } from './dom';

/** Pairs with this code at once when it is not "". */
export function pairPage(code: string, hostName: string, done: () => void): Page {
  const codeField = h('input', {
    id: 'code', class: 'code', testid: 'pair-code', inputmode: 'numeric', autocomplete: 'one-time-code', maxlength: 7,
    placeholder: '000-000', spellcheck: 'false', 'aria-describedby': 'pair-error', required: true, oninput: () => typed(),
  });
  const nameField = h('input', {
    id: 'device', testid: 'pair-name', autocomplete: 'off', maxlength: 60, spellcheck: 'false', value: deviceName(navigator.userAgent),
  });
  const error = h('p', { id: 'pair-error', class: 'error', testid: 'pair-error', role: 'alert' });
  const button = h('button', { type: 'submit', class: 'button primary wide', testid: 'pair-submit' }, 'Pair');
  const form = h('form', { class: 'pair-form', novalidate: true, onsubmit: (e: Event) => { e.preventDefault(); void submit(); } },
    h('label', { for: 'code' }, 'Code'), codeField, error,
    h('label', { for: 'device' }, 'Name of this device'), nameField, button);
  let blockedUntil = 0;
  let timer = 0;

  function typed(): void {
    const atEnd = codeField.selectionStart === codeField.value.length;
    const value = formatCode(codeField.value);
    if (value !== codeField.value) codeField.value = value;
    if (atEnd) codeField.setSelectionRange(value.length, value.length);
    if (Date.now() >= blockedUntil) error.textContent = '';
    codeField.removeAttribute('aria-invalid');
  }

  async function submit(): Promise<void> {
    if (Date.now() < blockedUntil || button.disabled) return;
    const value = formatCode(codeField.value);
    if (!completeCode(value)) {
      fail('The code has six digits.');
      return;
    }
    busy(true);
    try {
      await api.pair(value, nameField.value.trim() || deviceName(navigator.userAgent));
      announce('Paired.');
      done();
    } catch (err) {
      busy(false);
      explain(err);
    }
  }

  function busy(on: boolean): void {
    button.disabled = on;
    button.textContent = on ? 'Pairing\u2026' : 'Pair';
  }

  function fail(words: string): void {
    error.textContent = words;
    codeField.setAttribute('aria-invalid', 'true');
    codeField.focus();
    codeField.select();
  }

  function explain(err: unknown): void {
    const status = err instanceof api.ApiError ? err.status : 0;
    if (status === 429) block(err instanceof api.ApiError && err.retryAfterS > 0 ? err.retryAfterS : 30);
    else if (status === 403) fail('This code is not valid: it may be mistyped, used or expired. Ask the computer for a new one.');
    else if (status) fail((err as api.ApiError).detail || 'The host could not pair this device. Try again.');
    else fail('The host does not answer. Check that it is running, then try again.');
  }

  /** Too many tries: counts down until the host listens again. */
  function block(seconds: number): void {
    blockedUntil = Date.now() + seconds * 1000;
    const tick = (): void => {
      const left = Math.ceil((blockedUntil - Date.now()) / 1000);
      button.disabled = left > 0;
      error.textContent = left > 0 ? `Too many tries. The host listens again in ${left} s.` : '';
      if (left <= 0) clearInterval(timer);
    };
    clearInterval(timer);
    timer = window.setInterval(tick, 1000);
    tick();
  }

  const element = h('main', { class: 'pair', testid: 'pair-page' },
    h('div', { class: 'pair-body' },
      wordmark(),
      h('h1', {}, 'Pair this browser'),
      h('p', { class: 'lead' }, hostName ? `Enter the code that nearglass shows on ${hostName}.` : 'Enter the code that nearglass shows on the computer.'),
      form,
      h('p', { class: 'fine' }, 'No code in sight? On the computer, run ', h('code', {}, 'nearglass pair'), '.'),
      insecureNote()));

  queueMicrotask(() => {
    if (code) {
      codeField.value = code;
      void submit();
    } else if (!matchMedia('(pointer: coarse)').matches) {
      codeField.focus();
    }
  });
  return { element, dispose: () => clearInterval(timer) };
}
