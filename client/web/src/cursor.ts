// The host's pointer. While a mouse controls the host, its shape is the page's
// own cursor over the picture, so that it moves without any delay; in all other
// cases it is drawn where the host says that it is.

import { h } from './dom';
import type { CursorInfo, PointerInfo, Spot } from './protocol';
import type { Stage } from './stage';
import { clamp } from './view';

/** Browsers refuse larger cursors (Chromium and Firefox: 128 CSS pixels). */
const maxCssCursor = 128;
/** On a small screen a pointer of the picture's scale would vanish. */
const leastCss = 14;
/** The host's pointer is elsewhere if it is this far from where it was sent... */
const strayPx = 24;
/** ...and has had this long to get there: a slow round trip. */
const settleMs = 600;

interface Shape extends CursorInfo {
  image: HTMLImageElement;
}

export class PointerLayer {
  readonly sprite = h('img', { class: 'sprite', alt: '', 'aria-hidden': 'true', testid: 'pointer', hidden: true, draggable: 'false' });

  /** This viewer may control, and its mouse is over the picture. */
  private hovering = false;
  private shapes = new Map<string, Shape>();
  private pointer: PointerInfo | null = null;
  private newest = -Infinity;
  private cssKey = '';
  private timer = 0;

  constructor(
    private readonly stage: Stage,
    /** Where this viewer sent the pointer to, and when. */
    private readonly sent: () => (Spot & { atMs: number }) | null,
  ) {
    stage.element.append(this.sprite);
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  /** A new session counts and names anew. */
  reset(): void {
    this.shapes.clear();
    this.pointer = null;
    this.newest = -Infinity;
    this.update();
  }

  addShape(c: CursorInfo): void {
    const image = new Image();
    image.src = `data:image/png;base64,${c.png}`;
    this.shapes.set(c.id, { ...c, image });
    this.cssKey = '';
    image.decode().then(() => this.update(), () => this.shapes.delete(c.id));
  }

  move(p: PointerInfo): void {
    // The pointer channel loses and reorders; an older place is no news.
    if (p.n !== undefined) {
      if (p.n < this.newest) return;
      this.newest = p.n;
    }
    this.pointer = p;
    this.update();
  }

  setHovering(on: boolean): void {
    this.hovering = on;
    this.update();
  }

  update(): void {
    const shape = this.pointer ? this.shapes.get(this.pointer.cursor) : undefined;
    const local = this.hovering;
    this.setCssCursor(local ? this.cssCursor(shape) : '');
    const stray = local && this.stray();
    const show = shape && shape.image.complete && this.pointer?.visible && (!local || stray || this.tooLarge(shape));
    this.sprite.hidden = !show;
    if (show) this.drawSprite(shape);
  }

  /** The host's pointer went somewhere by itself. */
  private stray(): boolean {
    const sent = this.sent();
    const source = this.stage.source;
    if (!sent || !this.pointer || !source) return false;
    const age = performance.now() - sent.atMs;
    clearTimeout(this.timer);
    if (age < settleMs) {
      this.timer = window.setTimeout(() => this.update(), settleMs - age + 1);
      return false;
    }
    const x = (sent.x / sent.w) * source.width;
    const y = (sent.y / sent.h) * source.height;
    return Math.hypot(this.pointer.x - x, this.pointer.y - y) > strayPx;
  }

  /** CSS pixels per pixel of a shape. */
  private scale(shape: Shape): number {
    const source = this.stage.source ?? this.stage.picture;
    const natural = this.stage.place.width / source.width;
    return Math.max(natural, Math.min(1, leastCss / shape.height));
  }

  private tooLarge(shape: Shape): boolean {
    return Math.max(shape.width, shape.height) * this.scale(shape) > maxCssCursor;
  }

  private cssCursor(shape: Shape | undefined): string {
    if (this.pointer && !this.pointer.visible && !this.stray()) return 'none';
    if (!shape || !shape.image.complete || !shape.image.naturalWidth) return 'default';
    if (this.tooLarge(shape)) return 'none';
    const scale = this.scale(shape);
    const key = `${shape.id} ${scale} ${devicePixelRatio}`;
    if (key === this.cssKey) return this.stage.element.style.cursor;
    this.cssKey = key;
    return drawn(shape, scale);
  }

  private setCssCursor(value: string): void {
    const { style } = this.stage.element;
    if (style.cursor === value) return;
    if (!value.startsWith('url') && !value.startsWith('image-set')) this.cssKey = '';
    style.cursor = value;
  }

  private drawSprite(shape: Shape): void {
    const { place, source } = this.stage;
    const picture = source ?? this.stage.picture;
    const p = this.pointer;
    if (!p) return;
    if (this.sprite.src !== shape.image.src) this.sprite.src = shape.image.src;
    const scale = this.scale(shape);
    const snap = (v: number): number => Math.round(v * devicePixelRatio) / devicePixelRatio;
    const x = snap(place.left + (p.x / picture.width) * place.width - shape.hotX * scale);
    const y = snap(place.top + (p.y / picture.height) * place.height - shape.hotY * scale);
    this.sprite.style.width = `${shape.width * scale}px`;
    this.sprite.style.height = `${shape.height * scale}px`;
    this.sprite.style.transform = `translate(${x}px, ${y}px)`;
    this.sprite.classList.toggle('sharp', place.sharp);
  }
}

/** A shape as a value of the cursor property, sharp on dense screens too. */
function drawn(shape: Shape, scale: number): string {
  const dense = CSS.supports('cursor', 'image-set(url("data:,") 2x) 0 0, default');
  const ratio = dense ? devicePixelRatio : 1;
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(shape.width * scale * ratio));
  canvas.height = Math.max(1, Math.round(shape.height * scale * ratio));
  const context = canvas.getContext('2d');
  if (!context) return 'default';
  context.imageSmoothingEnabled = canvas.width % shape.width !== 0;
  context.drawImage(shape.image, 0, 0, canvas.width, canvas.height);
  const hotX = clamp(Math.round(shape.hotX * scale), 0, Math.ceil(canvas.width / ratio) - 1);
  const hotY = clamp(Math.round(shape.hotY * scale), 0, Math.ceil(canvas.height / ratio) - 1);
  const url = `url("${canvas.toDataURL('image/png')}")`;
  return `${dense && ratio !== 1 ? `image-set(${url} ${ratio}x)` : url} ${hotX} ${hotY}, default`;
}
