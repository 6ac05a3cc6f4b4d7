// One source in the list: a still preview, its title, what it is.

import { preview, type Source } from './api';
import { watchHash } from './device';
import { h } from './dom';
import { icon } from './icons';
import { clamp } from './view';

/** Wide enough for a card on a dense phone, small enough to be quick. */
const previewWidthPx = 640;
/** Where a card has a row for itself it takes its picture's shape, within these. */
const leastShape = 1.5;
const mostShape = 2.6;

export class Card {
  readonly element: HTMLElement;
  /** On screen now; previews of others are not worth their bytes. */
  visible = false;

  private readonly image = h('img', { alt: '', draggable: 'false', hidden: true });
  private readonly blank = h('span', { class: 'blank' });
  private readonly title = h('span', { class: 'card-title' });
  private readonly detail = h('span', { class: 'card-detail' });
  private readonly link: HTMLAnchorElement;
  private url = '';
  private source: Source;

  constructor(source: Source) {
    this.source = source;
    this.link = h('a', { class: 'card', testid: 'source', 'data-source-id': source.id },
      h('span', { class: 'shot' }, this.blank, this.image),
      h('span', { class: 'card-text' }, this.title, this.detail));
    this.element = h('li', {}, this.link);
    this.update(source);
  }

  update(source: Source): void {
    this.source = source;
    const gone = source.unavailable !== '';
    const title = titleOf(source);
    const detail = gone ? source.unavailable : detailOf(source);
    if (this.title.textContent !== title) this.title.textContent = title;
    if (this.detail.textContent !== detail) this.detail.textContent = detail;
    this.title.title = title;
    this.link.classList.toggle('unavailable', gone);
    if (gone) {
      this.link.removeAttribute('href');
      this.link.setAttribute('aria-disabled', 'true');
      this.link.setAttribute('role', 'link');
    } else {
      this.link.href = watchHash(source.id);
      this.link.removeAttribute('aria-disabled');
    }
    if (source.width && source.height) this.link.style.setProperty('--shape', String(clamp(source.width / source.height, leastShape, mostShape)));
    this.blank.replaceChildren(icon(source.kind === 'window' ? 'window' : 'screen'));
  }

  /** Fetches a new still; the old one stays when the host has none. */
  async refresh(): Promise<void> {
    if (this.source.unavailable || !this.visible) return;
    const url = URL.createObjectURL(await preview(this.source.id, previewWidthPx));
    const next = new Image();
    next.src = url;
    try {
      await next.decode();
    } catch {
      URL.revokeObjectURL(url);
      return;
    }
    this.forget();
    this.url = url;
    this.image.src = url;
    this.image.hidden = false;
  }

  forget(): void {
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = '';
  }
}

function titleOf(s: Source): string {
  if (s.title) return s.title;
  if (s.kind === 'desktop') return 'Whole desktop';
  return s.app || s.id;
}

function detailOf(s: Source): string {
  const size = s.width && s.height ? `${s.width} \u00d7 ${s.height}` : '';
  const app = s.app && s.app !== s.title ? s.app : '';
  const scale = s.scale && s.scale !== 1 ? `${Math.round(s.scale * 100)} %` : '';
  // A screen is named as one already.
  const kind = s.kind === 'display' ? '' : kindOf(s.kind);
  return [app || kind, size, scale].filter(Boolean).join(' \u00b7 ');
}

function kindOf(kind: string): string {
  const names: Record<string, string> = {
    desktop: 'All screens', window: 'Window', demo: 'Built-in demo', pattern: 'Test pattern',
  };
  return names[kind] ?? kind;
}
