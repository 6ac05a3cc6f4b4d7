// Starts the page: asks the host who we are, then shows pairing, the list, or
// a source, as the address says.

import * as api from './api';
import { codeOf, sourceOf } from './device';
import { h, wordmark, type Page } from './dom';
import { LogDesk } from './logdesk';
import { pairPage } from './pair';
import { sourcesPage } from './sources';
import type { Figures } from './stats';
import { Watch } from './watch';

/** For tests and for looking inside from the console. */
interface Nearglass {
  /** pairing, sources, connecting, live, paused, reconnecting, ended, failed, offline, starting */
  readonly state: string;
  readonly sourceId: string;
  /** Pictures shown since the source was opened. */
  readonly frames: number;
  /** RTP timestamp of the newest picture shown. */
  readonly rtp: number;
  /** Where the picture lies in the window, in CSS pixels, and its device pixels per picture pixel. */
  readonly view: { left: number; top: number; width: number; height: number; scale: number } | null;
  /** The overlay's figures; a promise, null while nothing is watched. */
  stats(): Promise<Figures | null>;
}

const retryMs = 2000;

class App {
  state = 'starting';
  private page: Page | null = null;
  private host: api.HostInfo | null = null;
  private timer = 0;
  private run = 0;
  private readonly logs = new LogDesk(() => this.host?.version ?? '');

  constructor(private readonly root: HTMLElement) {
    window.addEventListener('hashchange', () => void this.route());
  }

  get watch(): Watch | null {
    return this.page instanceof Watch ? this.page : null;
  }

  /** Shows what the address says. A code in it is used once and removed. */
  async route(): Promise<void> {
    clearTimeout(this.timer);
    const run = ++this.run;
    const code = codeOf(location.hash);
    if (code) history.replaceState(null, '', location.pathname + location.search);
    try {
      this.host = await api.host();
    } catch {
      if (run === this.run) this.offline(code);
      return;
    }
    if (run !== this.run) return;
    if (code) await this.redeem(code);
    else if (!this.host.paired) this.pairing('');
    else this.open(this.host);
  }

  /** A paired browser that opens a used link again simply goes on. */
  private async redeem(code: string): Promise<void> {
    if (!this.host?.paired) {
      this.pairing(code);
      return;
    }
    try {
      await api.pair(code, this.host.device);
    } catch {
      // The pairing that it has already is as good as before.
    }
    void this.route();
  }

  private pairing(code: string): void {
    this.show('pairing', pairPage(code, this.host?.name ?? '', () => void this.route()));
    document.title = 'Pair \u2013 nearglass';
  }

  private open(host: api.HostInfo): void {
    this.logs.leftovers();
    const id = sourceOf(location.hash);
    if (!id && !location.hash && host.source) {
      location.replace(`#/watch/${encodeURIComponent(host.source)}`);
      return;
    }
    const unpaired = (): void => void this.route();
    if (!id) {
      this.show('sources', sourcesPage(host, unpaired));
      document.title = host.name ? `${host.name} \u2013 nearglass` : 'nearglass';
      return;
    }
    const fromList = this.state === 'sources';
    this.show('connecting', new Watch(id, host.rights, {
      // The list is opened where it is in the history; no entry piles up.
      back: () => (fromList ? history.back() : location.replace('#/')),
      unpaired,
      state: (name) => (this.state = name),
    }, this.logs));
  }

  private offline(code: string): void {
    const page = h('main', { class: 'pair', testid: 'offline-page' },
      h('div', { class: 'pair-body' }, wordmark(), h('h1', {}, 'The host does not answer'),
        h('p', { class: 'lead' }, 'Check that nearglass is running on the computer and that this device is on its network. This page keeps trying.')));
    this.show('offline', { element: page, dispose: () => {} });
    if (code) history.replaceState(null, '', `#pair=${code}`);
    this.timer = window.setTimeout(() => void this.route(), retryMs);
  }

  private show(state: string, page: Page): void {
    this.page?.dispose();
    this.page = page;
    this.state = page instanceof Watch ? page.state : state;
    this.root.replaceChildren(page.element);
    document.documentElement.dataset.page = page instanceof Watch ? 'watch' : state;
    if (!(page instanceof Watch)) window.scrollTo(0, 0);
  }

  /** What window.nearglass gives. */
  handle(): Nearglass {
    const app = this;
    return {
      get state() { return app.state; },
      get sourceId() { return app.watch?.sourceId ?? ''; },
      get frames() { return app.watch?.frames.count ?? 0; },
      get rtp() { return app.watch?.frames.rtp ?? 0; },
      get view() {
        const stage = app.watch?.stage;
        if (!stage) return null;
        const box = stage.element.getBoundingClientRect();
        const { left, top, width, height, scale } = stage.place;
        return { left: box.left + left, top: box.top + top, width, height, scale };
      },
      stats: async () => (await app.watch?.stats.now()) ?? null,
    };
  }
}

const root = document.getElementById('app');
if (root) {
  const app = new App(root);
  Object.defineProperty(window, 'nearglass', { value: app.handle() });
  void app.route();
}
