// The list of what can be watched.

import * as api from './api';
import { Card } from './card';
import { announce, h, insecureNote, wordmark, type Page } from './dom';

const refreshMs = 5000;
/** Stills fetched at once: the host scales each, and the list matters more. */
const parallel = 2;

const groups: { title: string; kinds: string[] }[] = [
  { title: 'Screens', kinds: ['desktop', 'display'] },
  { title: 'Windows', kinds: ['window'] },
  { title: 'Built in', kinds: ['demo', 'pattern'] },
];

export function sourcesPage(host: api.HostInfo, unpaired: () => void): Page {
  const cards = new Map<string, Card>();
  const body = h('div', { class: 'groups', 'aria-busy': 'true' }, skeleton());
  const trouble = h('p', { class: 'trouble', testid: 'sources-error', role: 'status', hidden: true });
  const watcher = new IntersectionObserver(seen, { rootMargin: '120px' });
  let timer = 0;
  let shape: string | null = null;
  let over = false;

  function seen(entries: IntersectionObserverEntry[]): void {
    for (const e of entries) {
      const card = [...cards.values()].find((c) => c.element === e.target);
      if (!card) continue;
      const first = e.isIntersecting && !card.visible;
      card.visible = e.isIntersecting;
      if (first) void card.refresh().catch(quiet);
    }
  }

  async function refresh(): Promise<void> {
    clearTimeout(timer);
    if (over) return;
    if (document.visibilityState === 'visible') {
      try {
        show(await api.sources());
        trouble.hidden = true;
        await stills();
      } catch (err) {
        if (over) return;
        if (err instanceof api.ApiError && err.status === 401) {
          unpaired();
          return;
        }
        complain(err);
      }
    }
    if (!over) timer = window.setTimeout(() => void refresh(), refreshMs);
  }

  function complain(err: unknown): void {
    const words = err instanceof api.ApiError && err.detail ? err.detail : 'The host does not answer. This page keeps trying.';
    if (trouble.textContent !== words) trouble.textContent = words;
    trouble.hidden = false;
    if (cards.size > 0) return;
    body.replaceChildren();
    shape = null;
  }

  function show(list: api.Source[]): void {
    body.setAttribute('aria-busy', 'false');
    for (const s of list) {
      const card = cards.get(s.id);
      if (card) card.update(s);
      else cards.set(s.id, new Card(s));
    }
    const ids = new Set(list.map((s) => s.id));
    for (const [id, card] of cards) {
      if (ids.has(id)) continue;
      watcher.unobserve(card.element);
      card.forget();
      cards.delete(id);
    }
    // Rebuilt only when something came or went: the focus stays where it is.
    const now = list.map((s) => `${s.kind} ${s.id}`).join('\n');
    if (now === shape) return;
    shape = now;
    lay(list);
  }

  function lay(list: api.Source[]): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.sourceId;
    if (list.length === 0) {
      body.replaceChildren(empty());
      return;
    }
    const known = groups.flatMap((g) => g.kinds);
    body.replaceChildren(
      ...groups.flatMap((g) => {
        const members = list.filter((s) => g.kinds.includes(s.kind) || (g.title === 'Built in' && !known.includes(s.kind)));
        return members.length ? [group(g.title, members)] : [];
      }),
    );
    for (const c of cards.values()) watcher.observe(c.element);
    if (focused) cards.get(focused)?.element.querySelector('a')?.focus();
    announce(list.length === 1 ? 'One source.' : `${list.length} sources.`);
  }

  function group(title: string, members: api.Source[]): HTMLElement {
    const items = members.map((s) => cards.get(s.id)?.element);
    return h('section', { class: title === 'Screens' ? 'group screens' : 'group' }, h('h2', {}, title), h('ul', {}, ...items));
  }

  async function stills(): Promise<void> {
    const queue = [...cards.values()].filter((c) => c.visible);
    const worker = async (): Promise<void> => {
      for (let c = queue.shift(); c && !over; c = queue.shift()) await c.refresh().catch(quiet);
    };
    await Promise.all(Array.from({ length: parallel }, worker));
  }

  const wake = (): void => void (document.visibilityState === 'visible' && refresh());
  document.addEventListener('visibilitychange', wake);
  void refresh();

  const element = h('div', { class: 'list', testid: 'sources-page' },
    h('header', { class: 'top' }, wordmark(), h('span', { class: 'top-host' }, host.name, host.rights === 'view' && h('span', { class: 'badge' }, 'View only'))),
    h('main', {}, h('h1', {}, 'What would you like to see?'), trouble, body),
    h('footer', {}, insecureNote(), h('p', { class: 'fine' }, [host.device && `Paired as ${host.device}`, host.version && `nearglass ${host.version}`].filter(Boolean).join(' \u00b7 '))));
  return {
    element,
    dispose: () => {
      over = true;
      clearTimeout(timer);
      watcher.disconnect();
      document.removeEventListener('visibilitychange', wake);
      for (const c of cards.values()) c.forget();
    },
  };
}

function skeleton(): HTMLElement {
  const card = (): HTMLElement => h('li', {}, h('div', { class: 'card ghost' }, h('span', { class: 'shot' }), h('span', { class: 'card-text' }, h('span', { class: 'bone' }), h('span', { class: 'bone short' }))));
  return h('section', { class: 'group', 'aria-hidden': 'true' }, h('h2', {}, 'Screens'), h('ul', {}, card(), card(), card()));
}

function empty(): HTMLElement {
  return h('div', { class: 'empty', testid: 'sources-empty' },
    h('h2', {}, 'Nothing to show yet'),
    h('p', {}, 'The host found no screen and no window. On the computer, ', h('code', {}, 'nearglass doctor'), ' says what is missing.'));
}

/** A still that failed is tried again with the next refresh. */
function quiet(): void {}
