// The watch screen: puts the parts together for one source.

import { Connection } from './connection';
import { PointerLayer } from './cursor';
import { Have } from './dependency';
import { h, type Page } from './dom';
import { Frames } from './frames';
import { isFull, lockKeys, toggleFull } from './fullscreen';
import { helpSheet } from './help';
import { Keyboard } from './input/keyboard';
import { Mouse } from './input/mouse';
import { Sender } from './input/sender';
import { SoftKeys } from './input/softkeys';
import { Touching } from './input/touch';
import type { LogDesk } from './logdesk';
import { Marks, type Effect } from './marks';
import { Notices } from './notices';
import { Overlay } from './overlay';
import { decode, type ControlMessage, type HostMessage, type Rights, type ShownAt, type SourceInfo, type StateInfo } from './protocol';
import { Stage } from './stage';
import { StatsDesk } from './statsdesk';
import { Toolbar } from './toolbar';
import { verdict, type Phase } from './verdict';
import { Viewport } from './viewport';
import type { WhepSession } from './whep';

export interface WatchHooks {
  back(): void;
  unpaired(): void;
  state(name: string): void;
}

export class Watch implements Page {
  readonly element: HTMLElement;
  readonly stage = new Stage();
  readonly frames: Frames;
  readonly stats: StatsDesk;

  private readonly sender = new Sender();
  private readonly have = new Have();
  private readonly notices = new Notices();
  private readonly marks = new Marks((e) => {
    this.effect = e;
    this.logs.input(e.ms);
  });
  private readonly overlay = new Overlay({
    close: () => this.toggleStats(),
    report: () => void this.logs.report(),
  });
  private readonly help = helpSheet();
  private readonly softKeys = new SoftKeys(this.sender);
  private readonly pointer: PointerLayer;
  private readonly keyboard: Keyboard;
  private readonly touching: Touching;
  private readonly toolbar: Toolbar;
  private readonly viewport: Viewport;
  private readonly ends = new AbortController();
  private connection: Connection;
  private phase: Phase = 'connecting';
  private why = '';
  /** A picture of the present session has been shown. */
  private fresh = false;
  /** One was shown before the connection's own event came. */
  private early = false;
  private hostState: StateInfo | null = null;
  private effect: Effect | null = null;

  constructor(
    readonly sourceId: string,
    rights: Rights | '',
    private readonly hooks: WatchHooks,
    private readonly logs: LogDesk,
  ) {
    this.toolbar = this.makeToolbar();
    this.keyboard = new Keyboard(this.stage.field, this.sender, {
      command: (name) => (name === 'stats' ? this.toggleStats() : this.leave()),
      sticky: () => this.softKeys.sticky,
      softChanged: (shown) => this.softChanged(shown),
    });
    this.sender.mark = () => this.marks.next(performance.now());
    this.sender.onKeyDone = () => this.softKeys.keyDone();
    this.pointer = new PointerLayer(this.stage, () => this.sender.last);
    this.stage.onLayout = () => this.pointer.update();
    new Mouse(this.stage, this.sender, { hover: (at) => this.hover(at !== null), engage: () => this.engage() });
    this.touching = new Touching(this.stage, this.sender, { touched: () => this.touched() });
    this.frames = new Frames(this.stage.video, (m) => this.tell(m), () => this.frameShown(), (meta) => this.timed(meta),
      (rtp) => this.have.shown(rtp, this.connection.session?.confirms ?? null));
    this.element = h('main', { class: 'watch', testid: 'watch-page' },
      h('div', { class: 'view' }, this.stage.element, this.overlay.element, this.notices.element, this.toolbar.element),
      this.softKeys.element, this.help,
      h('span', { id: 'keyboard-way-out', class: 'visually-hidden' }, 'Press Control, Alt, Shift and Q to leave the desktop.'));
    this.viewport = new Viewport(this.element, () => this.keyboard.soft && this.keyboard.softGone());
    this.toolbar.setSource('', rights === 'view');
    this.connection = this.connect();
    this.stats = new StatsDesk(this.overlay, (m) => this.tell(m), () => this.connection.session?.pc ?? null, () => ({
      state: this.state, sourceId, framesShown: this.frames.count, hidden: document.hidden, viewer: this.logs.newest, input: this.effect,
    }));
    this.listen();
    this.render();
    this.connection.start();
  }

  get state(): string {
    return verdict(this.phase, this.fresh, this.hostState, this.why).state;
  }

  dispose(): void {
    this.ends.abort();
    this.keyboard.releaseAll();
    this.logs.close('the page was left');
    this.connection.close();
    for (const part of [this.stage, this.frames, this.notices, this.pointer, this.touching, this.toolbar, this.viewport, this.overlay, this.stats]) part.dispose();
    if (isFull()) void toggleFull();
  }

  private connect(): Connection {
    return new Connection(this.sourceId, {
      session: (s) => this.newSession(s),
      connected: () => this.turn('connected', ''),
      lost: (why) => this.turn('lost', why),
      failed: (why) => this.turn('failed', why),
      unpaired: () => this.hooks.unpaired(),
    });
  }

  private newSession(s: WhepSession): void {
    this.stage.hold();
    this.fresh = false;
    this.hostState = null;
    this.sender.allowed = false;
    this.sender.attach(s.input);
    this.softKeys.reset();
    this.pointer.reset();
    this.stats.reset();
    this.marks.reset();
    this.effect = null;
    this.early = false;
    this.logs.open(s.pc, (m) => this.tell(m), () => this.state);
    // Before anything can arrive: what comes while the element is not ready is
    // dropped, and a still screen sends its picture once.
    this.stage.video.srcObject = new MediaStream([s.track]);
    void this.stage.video.play().catch(() => {
      // Replaced by a newer session before it could start.
    });
    s.control.onopen = () => this.stats.ask();
    s.control.onmessage = (e) => this.hear(s, String(e.data));
    s.pointer.onmessage = (e) => this.hear(s, String(e.data));
    s.input.onclose = () => this.softKeys.reset();
  }

  private hear(s: WhepSession, text: string): void {
    if (s !== this.connection.session) return;
    const m = decode(text);
    if (m) this.take(m);
  }

  private take(m: HostMessage): void {
    switch (m.type) {
      case 'source':
        this.setSource(m);
        return;
      case 'state':
        this.setHostState(m);
        return;
      case 'cursor':
        this.pointer.addShape(m);
        return;
      case 'pointer':
        this.pointer.move(m);
        return;
      case 'stats':
        this.stats.heard(m);
        return;
      case 'path':
        if (m.changed) this.notices.pass(`Route: ${m.words}`);
        return;
      case 'bye':
        this.logs.close(m.reason);
        this.connection.replace(m.reason);
        return;
      case 'stream':
        this.logs.begin(m.id, m.trace);
        return;
      case 'marked':
        this.marks.named(m.n, m.rtp);
        return;
      case 'pong':
        this.logs.pong(m.t, m.host);
    }
  }

  private setSource(m: SourceInfo): void {
    this.stage.source = { width: even(m.width), height: even(m.height) };
    this.sender.allowed = m.rights === 'control';
    this.toolbar.setSource(m.title, m.rights !== 'control');
    if (m.rights !== 'control') this.softKeys.element.hidden = true;
    this.stage.field.setAttribute('aria-label', `Remote desktop: ${m.title}`);
    document.title = m.title ? `${m.title} \u2013 nearglass` : 'nearglass';
    this.stage.layout();
    if (this.sender.allowed && document.activeElement === document.body) this.keyboard.focus();
  }

  private setHostState(m: StateInfo): void {
    this.hostState = m;
    if (m.state === 'ended') {
      this.logs.close(m.reason);
      this.stage.hold();
      this.connection.close();
    }
    this.render();
  }

  private turn(phase: Phase, why: string): void {
    if (this.hostState?.state === 'ended') return;
    this.phase = phase;
    this.why = why;
    if (phase === 'connected' && this.early) this.fresh = true;
    if (phase !== 'connected') this.stage.hold();
    // A blip that healed by itself needs no new picture.
    else if (this.fresh) this.stage.unhold();
    this.render();
  }

  private timed(meta: VideoFrameCallbackMetadata): ShownAt | null {
    if (meta.rtpTimestamp !== undefined) this.marks.shown(meta.rtpTimestamp, Math.max(meta.expectedDisplayTime, meta.presentationTime));
    return this.logs.shown(meta);
  }

  private frameShown(): void {
    if (this.fresh) return;
    if (this.phase !== 'connected') {
      this.early = true;
      return;
    }
    this.fresh = true;
    this.stage.unhold();
    this.stage.layout();
    this.render();
  }

  private render(): void {
    const v = verdict(this.phase, this.fresh, this.hostState, this.why);
    this.element.dataset.state = v.state;
    this.hooks.state(v.state);
    if (v.final) {
      this.notices.decide(v.title, v.words, [
        { label: 'All sources', testid: 'verdict-back', primary: true, act: this.hooks.back },
        { label: 'Try again', testid: 'verdict-retry', act: () => this.again() },
        { label: 'Report a problem', testid: 'verdict-report', act: () => void this.logs.report() },
      ]);
    } else if (v.words) this.notices.say(v.words, v.state !== 'paused');
    else this.notices.clear();
  }

  private again(): void {
    this.connection.close();
    this.phase = 'connecting';
    this.hostState = null;
    this.why = '';
    this.connection = this.connect();
    this.render();
    this.connection.start();
  }

  private tell(m: ControlMessage): void {
    const channel = this.connection.session?.control;
    if (channel?.readyState === 'open') channel.send(JSON.stringify(m));
  }

  private makeToolbar(): Toolbar {
    return new Toolbar({
      sources: this.hooks.back,
      keyboard: () => this.keyboard.showSoft(!this.keyboard.soft),
      keys: () => this.showKeys(this.softKeys.element.hidden),
      zoom: () => {
        const actual = this.stage.toggleActual();
        this.toolbar.label('zoom', actual ? 'Fit to window' : 'Actual size', actual ? 'fit' : 'zoom');
      },
      fullScreen: () => void toggleFull(),
      stats: () => this.toggleStats(),
      report: () => void this.logs.report(),
      help: () => this.help.showModal(),
    });
  }

  private toggleStats(): void {
    const open = this.overlay.toggle();
    this.toolbar.press('stats', open);
    this.toolbar.label('stats', open ? 'Hide stats' : 'Show stats', 'stats');
    this.stats.ask();
  }

  private showKeys(on: boolean): void {
    this.softKeys.element.hidden = !on;
    if (!on) this.softKeys.reset();
    this.toolbar.press('keys', on);
  }

  private softChanged(shown: boolean): void {
    this.toolbar.press('keyboard', shown);
    this.showKeys(shown);
    if (shown) this.toolbar.fold();
  }

  private engage(): void {
    if (this.sender.allowed) this.keyboard.focus();
    this.toolbar.fold();
  }

  private touched(): void {
    this.hover(false);
    this.engage();
  }

  private hover(on: boolean): void {
    this.pointer.setHovering(on && this.sender.allowed);
  }

  private leave(): void {
    this.stage.field.blur();
    this.toolbar.focus();
  }

  private listen(): void {
    const { signal } = this.ends;
    window.addEventListener('blur', () => this.keyboard.releaseAll(), { signal });
    window.addEventListener('pagehide', () => {
      this.keyboard.releaseAll();
      this.logs.close('the page was left');
      this.connection.close();
    }, { signal });
    // A page from the browser's back-forward cache has no session any more.
    window.addEventListener('pageshow', (e) => e.persisted && this.again(), { signal });
    document.addEventListener('visibilitychange', () => {
      const hidden = document.visibilityState === 'hidden';
      if (hidden) this.keyboard.releaseAll();
      this.tell({ type: 'hidden', hidden });
    }, { signal });
    document.addEventListener('fullscreenchange', () => {
      void lockKeys();
      this.toolbar.label('full', isFull() ? 'Leave full screen' : 'Full screen', isFull() ? 'unfull' : 'full');
    }, { signal });
    // Outside the picture, as on the toolbar, the stats shortcut works too.
    document.addEventListener('keydown', (e) => {
      if (e.target !== this.stage.field && e.code === 'KeyS' && e.ctrlKey && e.altKey && e.shiftKey) {
        e.preventDefault();
        this.toggleStats();
      }
    }, { signal });
  }
}

/** 4:2:0 video has no odd sides: such a picture comes with a padded edge. */
function even(side: number): number {
  return side + (side % 2);
}
