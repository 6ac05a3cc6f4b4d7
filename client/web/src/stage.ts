// The picture in the window: the video element, its place, zoom and pan.

import { h } from './dom';
import type { Spot } from './protocol';
import { actualZoom, fitted, follow, panBy, place, toPicture, whole, zoomAt, zoomed, type Place, type Size, type View } from './view';

/** Chromium gives a track that waits for its first picture this width and height. */
const blankPx = 2;

export class Stage {
  readonly video = h('video', {
    testid: 'video', muted: true, autoplay: true, playsinline: true, disablepictureinpicture: true, tabindex: '-1', 'aria-hidden': 'true',
  });
  readonly field = h('textarea', {
    class: 'key-field', testid: 'keyboard-input', inputmode: 'none', autocomplete: 'off', autocapitalize: 'off',
    autocorrect: 'off', spellcheck: 'false', rows: '1', 'aria-roledescription': 'remote desktop', 'aria-label': 'Remote desktop',
    'aria-describedby': 'keyboard-way-out',
  });
  readonly element: HTMLElement;
  /** The newest picture of a session that broke off, until the next one comes. */
  private readonly still = h('canvas', { class: 'still', hidden: true, 'aria-hidden': 'true' });

  view: View = fitted;
  /** The source's picture, in its own pixels however small it is sent: pointer and shapes count in these. */
  source: Size | null = null;
  onLayout: () => void = () => {};

  private current: Place = { left: 0, top: 0, width: 1, height: 1, scale: 1, sharp: false };
  private readonly watcher = new ResizeObserver(() => this.layout());

  constructor() {
    this.video.muted = true; // The attribute alone does not mute a script-made element.
    this.element = h('div', { class: 'stage', testid: 'stage' }, this.video, this.still, this.field);
    this.video.addEventListener('resize', () => this.layout());
    this.watcher.observe(this.element);
  }

  dispose(): void {
    this.watcher.disconnect();
    this.video.srcObject = null;
  }

  get place(): Place {
    return this.current;
  }

  get zoomed(): boolean {
    return zoomed(this.view);
  }

  /** The picture that is seen now, in the pixels of its source. */
  get picture(): Size {
    const seen = this.seen;
    return seen ? whole(seen, this.source) : this.source ?? { width: 1280, height: 720 };
  }

  /** The size of what is on the screen, null before the first picture. */
  private get seen(): Size | null {
    return this.still.hidden ? this.received : { width: this.still.width, height: this.still.height };
  }

  /** It has a pixel for each of its source's. */
  private get complete(): boolean {
    return (this.seen?.width ?? this.picture.width) === this.picture.width;
  }

  /** The size of the video's picture, null before the first. */
  private get received(): Size | null {
    const { videoWidth: width, videoHeight: height } = this.video;
    return width > blankPx || height > blankPx ? { width, height } : null;
  }

  get box(): Size {
    return { width: this.element.clientWidth || 1, height: this.element.clientHeight || 1 };
  }

  layout(): void {
    const p = place(this.box, this.picture, devicePixelRatio, this.view);
    this.current = p;
    const { complete } = this;
    for (const el of [this.video, this.still]) {
      el.style.left = `${p.left}px`;
      el.style.top = `${p.top}px`;
      el.style.width = `${p.width}px`;
      el.style.height = `${p.height}px`;
      el.classList.toggle('sharp', p.sharp && complete);
    }
    this.onLayout();
  }

  /** The picture's point under a point of the window (client coordinates). */
  spot(clientX: number, clientY: number): { spot: Spot; inside: boolean } {
    const frame = this.element.getBoundingClientRect();
    const picture = this.picture;
    const { x, y, inside } = toPicture(this.current, picture, clientX - frame.left, clientY - frame.top);
    return { spot: { x: tidy(x), y: tidy(y), w: picture.width, h: picture.height }, inside };
  }

  zoomBy(factor: number, clientX: number, clientY: number): void {
    const frame = this.element.getBoundingClientRect();
    this.view = zoomAt(this.box, this.picture, devicePixelRatio, this.view, factor, clientX - frame.left, clientY - frame.top);
    this.layout();
  }

  pan(dx: number, dy: number): void {
    this.view = panBy(this.box, this.picture, devicePixelRatio, this.view, dx, dy);
    this.layout();
  }

  /** A mouse cannot pan, so a zoomed view follows it from edge to edge. */
  followMouse(clientX: number, clientY: number): void {
    if (!this.zoomed) return;
    const frame = this.element.getBoundingClientRect();
    this.view = follow(this.box, this.picture, devicePixelRatio, this.view, clientX - frame.left, clientY - frame.top);
    this.layout();
  }

  /** Changes between the fitted view and one device pixel per picture pixel. */
  toggleActual(): boolean {
    const actual = actualZoom(this.box, this.picture, devicePixelRatio);
    const fit = Math.abs(this.view.zoom - 1) < 0.001;
    this.view = fit ? { zoom: actual, x: 0.5, y: 0.5 } : fitted;
    this.layout();
    return fit;
  }

  /** Keeps the newest picture on screen while there is no session. */
  hold(): void {
    const size = this.received;
    if (!size || !this.still.hidden) return;
    this.still.width = size.width;
    this.still.height = size.height;
    this.still.getContext('2d')?.drawImage(this.video, 0, 0);
    this.still.hidden = false;
  }

  unhold(): void {
    this.still.hidden = true;
    this.layout();
  }
}

/** A hundredth of a pixel is enough, and shorter in JSON. */
function tidy(v: number): number {
  return Math.round(v * 100) / 100;
}
