// The "Show stats" overlay. It is made once, changes once a second while it is
// open, and does nothing while it is not.

import { copyText } from './copy';
import { announce, h, iconButton } from './dom';
import { ms } from './limits';
import { History } from './statsbar';
import { BarView, put, SparkView } from './statsdraw';
import type { Figures } from './stats';
import { asText, barOf, inputWords, limitOf, rateReason, rateWords, route, routeDetail, rows, secondOf } from './statswords';

export interface OverlayHooks {
  close(): void;
  report(): void;
}

const none = '\u2013';
/** Long enough to be read. */
const saidMs = 2000;
const copyLabel = 'Copy as text';

export class Overlay {
  readonly element: HTMLElement;
  private readonly limit = h('p', { class: 'stats-limit', testid: 'stat-limit' });
  private readonly road = h('strong', { testid: 'stat-route' }, none);
  private readonly roadDetail = h('span', {});
  private readonly delay = h('b', { testid: 'stat-delay' }, none);
  private readonly input = h('b', { testid: 'stat-input' }, none);
  private readonly rate = h('b', { testid: 'stat-rate' }, none);
  private readonly reason = h('p', { class: 'stats-reason' });
  private readonly bar = new BarView();
  private readonly spark = new SparkView();
  private readonly list = h('dl', {});
  private readonly cells = new Map<string, HTMLElement>();
  private readonly copyButton = h('button', { type: 'button', class: 'button', testid: 'stats-copy', onclick: () => void this.copy() }, copyLabel);
  private readonly history = new History();
  private figures: Figures | null = null;
  private timer = 0;

  constructor(private readonly hooks: OverlayHooks) {
    this.element = h('section', { class: 'stats', testid: 'stats-overlay', 'aria-label': 'Stats', hidden: true },
      h('header', {}, this.limit,
        iconButton('side', 'To the other side', 'stats-side', () => this.element.classList.toggle('on-right')),
        iconButton('close', 'Hide stats', 'stats-close', () => this.hooks.close())),
      h('div', { class: 'stats-body' },
        h('p', { class: 'stats-road' }, this.road, this.roadDetail),
        h('div', { class: 'stats-delay' },
          h('p', { class: 'stats-head' }, h('span', {}, 'Delay'), this.delay, h('span', { class: 'stats-aside' }, 'input until seen ', this.input)),
          ...this.bar.elements),
        h('div', { class: 'stats-rate' },
          h('p', { class: 'stats-head' }, h('span', {}, 'Rate'), this.rate),
          this.reason,
          this.spark.element,
          h('p', { class: 'stats-key', 'aria-hidden': 'true' },
            h('i', { class: 'key-used' }), 'used', h('i', { class: 'key-target' }), 'possible', h('i', { class: 'key-probe' }), 'probe', h('i', { class: 'key-drop' }), 'drop')),
        this.list,
        h('div', { class: 'stats-does' }, this.copyButton,
          h('button', { type: 'button', class: 'button', testid: 'stats-report', onclick: () => this.hooks.report() }, 'Download report'))));
    this.element.addEventListener('keydown', (e) => e.key === 'Escape' && this.hooks.close());
    // A press of a button leaves the keyboard with the remote desktop.
    this.element.addEventListener('mousedown', (e) => e.preventDefault());
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  toggle(): boolean {
    this.element.hidden = !this.element.hidden;
    return this.open;
  }

  show(f: Figures): void {
    this.figures = f;
    const limit = limitOf(f);
    this.limit.dataset.where = limit.where;
    put(this.limit, limit.words);
    put(this.road, route(f));
    put(this.roadDetail, routeDetail(f));
    this.showDelay(f);
    this.showRate(f);
    for (const [name, words] of rows(f)) put(this.cell(name), words);
  }

  private showDelay(f: Figures): void {
    const bar = barOf(f);
    this.bar.show(bar);
    if (bar) put(this.delay, bar.totalMs === null ? none : ms(bar.totalMs));
    put(this.input, inputWords(f));
  }

  private showRate(f: Figures): void {
    const second = secondOf(f);
    if (second) this.history.add(second);
    this.spark.show(this.history.all);
    put(this.rate, rateWords(f));
    put(this.reason, rateReason(f));
    this.reason.title = rateReason(f);
  }

  /** The place of a row's words, made when the row is first shown. */
  private cell(name: string): HTMLElement {
    const known = this.cells.get(name);
    if (known) return known;
    const cell = h('dd', { testid: `stat-${name.toLowerCase().replace(/[^a-z]+/g, '-')}` });
    this.cells.set(name, cell);
    this.list.append(h('dt', {}, name), cell);
    return cell;
  }

  private async copy(): Promise<void> {
    if (!this.figures) return;
    const done = await copyText(asText(this.figures, new Date().toISOString()));
    const words = done ? 'Copied' : 'Not allowed here';
    announce(words);
    this.copyButton.textContent = words;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.copyButton.textContent = copyLabel), saidMs);
  }
}
