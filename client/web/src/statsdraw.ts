// The drawings of the stats overlay: the bar of the delay with its legend, and the
// line of the rate. They change what they made, and make nothing anew.

import { h } from './dom';
import { ms } from './limits';
import { noBar, spark, type Bar, type Moment } from './statsbar';
import { shape } from './svg';

const none = '\u2013';

/** Sets a text only where it is another: the browser lays out no more than it must. */
export function put(el: Element, words: string): void {
  if (el.textContent !== words) el.textContent = words;
}

export class BarView {
  private readonly parts = noBar.stages.map((s) => h('span', { class: `stage-${s.name}` }));
  private readonly times = noBar.stages.map(() => h('b', {}, none));
  private readonly strip = h('div', { class: 'delay-bar', role: 'img', testid: 'stat-bar' }, ...this.parts);
  readonly elements = [
    this.strip,
    h('ul', { class: 'delay-legend' }, ...noBar.stages.map((s, i) =>
      h('li', { testid: `stat-${s.name}` }, h('i', { class: `stage-${s.name}`, 'aria-hidden': 'true' }), h('span', {}, s.label), this.times[i] ?? null))),
  ];

  /** Null leaves the bar of the pictures before, in grey: no picture came since. */
  show(b: Bar | null): void {
    this.strip.parentElement?.classList.toggle('past', b === null);
    if (!b) return;
    b.stages.forEach((s, i) => {
      const part = this.parts[i];
      if (part) part.style.flexGrow = s.share.toFixed(3);
      const time = this.times[i];
      if (time) put(time, s.ms === null ? none : ms(s.ms).replace(' ms', ''));
    });
    this.strip.setAttribute('aria-label', b.stages.filter((s) => s.ms !== null).map((s) => `${s.label} ${ms(s.ms ?? 0)}`).join(', '));
  }
}

const width = 320;
const height = 44;
/** Marks stand below the line, where they hide nothing of it. */
const marksHeight = 7;

export class SparkView {
  private readonly used = shape('path', { class: 'spark-used' });
  private readonly target = shape('path', { class: 'spark-target' });
  private readonly probes = shape('path', { class: 'spark-probes' });
  private readonly drops = shape('path', { class: 'spark-drops' });
  readonly element = shape('svg', {
    class: 'spark', viewBox: `0 0 ${width} ${height + marksHeight}`, preserveAspectRatio: 'none', role: 'img',
    'aria-label': 'Rate of the last minute', 'data-testid': 'stat-spark',
  }, this.used, this.target, this.probes, this.drops);

  show(history: readonly (Moment | null)[]): void {
    const s = spark(history, width, height);
    this.used.setAttribute('d', s.used);
    this.target.setAttribute('d', s.target);
    const ticks = (at: number[]): string => at.map((x) => `M${x} ${height + 2}v${marksHeight - 2}`).join('');
    this.probes.setAttribute('d', ticks(s.probes));
    this.drops.setAttribute('d', ticks(s.drops));
  }
}
