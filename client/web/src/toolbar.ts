// The floating toolbar of the watch screen. It folds into a small tab while
// nobody uses it, and unfolds under the mouse, a tap or the focus.

import { h, iconButton } from './dom';
import { icon, type IconName } from './icons';

export interface ToolbarHooks {
  sources(): void;
  keyboard(): void;
  keys(): void;
  zoom(): void;
  fullScreen(): void;
  stats(): void;
  report(): void;
  help(): void;
}

/** Long enough to read the labels once, short enough not to be in the way. */
const foldMs = 3500;

export class Toolbar {
  readonly element: HTMLElement;
  private readonly title = h('span', { class: 'bar-title', testid: 'source-title' });
  private readonly badge = h('span', { class: 'badge', testid: 'view-only', hidden: true }, 'View only');
  private readonly buttons: Record<string, HTMLButtonElement>;
  private readonly tab: HTMLButtonElement;
  private timer = 0;

  constructor(hooks: ToolbarHooks) {
    this.buttons = {
      sources: iconButton('sources', 'All sources', 'btn-sources', hooks.sources),
      keyboard: iconButton('keyboard', 'Keyboard', 'btn-keyboard', hooks.keyboard),
      keys: iconButton('keys', 'Keys', 'btn-keys', hooks.keys),
      zoom: iconButton('zoom', 'Actual size', 'btn-zoom', hooks.zoom),
      full: iconButton('full', 'Full screen', 'btn-fullscreen', hooks.fullScreen),
      stats: iconButton('stats', 'Show stats', 'btn-stats', hooks.stats),
      report: iconButton('report', 'Report a problem', 'btn-report', hooks.report),
      help: iconButton('help', 'Help', 'btn-help', hooks.help),
    };
    for (const name of ['keyboard', 'keys', 'stats']) this.press(name, false);
    if (!document.fullscreenEnabled) this.buttons.full?.remove();
    this.tab = h('button', {
      type: 'button', class: 'bar-tab', testid: 'toolbar-tab', 'aria-label': 'Show the toolbar', onclick: () => this.unfold(),
    }, icon('more'));
    const { sources, ...others } = this.buttons;
    this.element = h(
      'div',
      { class: 'bar', role: 'toolbar', 'aria-label': 'Desktop', testid: 'toolbar' },
      h('div', { class: 'bar-body' }, sources, h('span', { class: 'bar-name' }, this.title, this.badge), ...Object.values(others).filter((b) => b !== this.buttons.full || document.fullscreenEnabled)),
      this.tab,
    );
    this.element.addEventListener('pointerenter', () => this.unfold());
    this.element.addEventListener('pointerleave', () => this.foldLater());
    this.element.addEventListener('focusin', (e) => e.target !== this.tab && this.unfold());
    this.element.addEventListener('focusout', () => this.foldLater());
    this.element.addEventListener('keydown', (e) => this.arrow(e));
    this.unfold();
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  setSource(title: string, viewOnly: boolean): void {
    this.title.textContent = title;
    this.title.title = title;
    this.badge.hidden = !viewOnly;
    for (const name of ['keyboard', 'keys']) {
      const button = this.buttons[name];
      if (button) button.hidden = viewOnly;
    }
  }

  press(name: string, on: boolean): void {
    this.buttons[name]?.setAttribute('aria-pressed', String(on));
  }

  label(name: string, words: string, picture: IconName): void {
    const button = this.buttons[name];
    if (!button) return;
    button.setAttribute('aria-label', words);
    button.title = words;
    button.replaceChildren(icon(picture));
  }

  focus(): void {
    this.unfold();
    this.buttons.sources?.focus();
  }

  unfold(): void {
    this.element.classList.remove('folded');
    this.foldLater();
  }

  fold(): void {
    if (this.element.contains(document.activeElement)) return;
    this.element.classList.add('folded');
  }

  private foldLater(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (this.element.matches(':hover')) this.foldLater();
      else this.fold();
    }, foldMs);
  }

  /** Arrow keys walk along the toolbar, as its role promises. */
  private arrow(e: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const all = [...this.element.querySelectorAll<HTMLButtonElement>('.tool:not([hidden])')];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    if (at < 0) return;
    e.preventDefault();
    all[(at + step + all.length) % all.length]?.focus();
  }
}
