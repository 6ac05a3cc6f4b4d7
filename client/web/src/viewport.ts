// Keeps the watch screen inside what is visible: above a soft keyboard, below
// a moving address bar.

/** A soft keyboard is higher than this; an address bar is lower (CSS pixels). */
const keyboardPx = 120;

export class Viewport {
  private tallest = new Map<number, number>();
  private covered = false;

  constructor(
    private readonly element: HTMLElement,
    /** The soft keyboard has been put away. */
    private readonly uncovered: () => void,
  ) {
    visualViewport?.addEventListener('resize', this.fit);
    visualViewport?.addEventListener('scroll', this.fit);
    this.fit();
  }

  dispose(): void {
    visualViewport?.removeEventListener('resize', this.fit);
    visualViewport?.removeEventListener('scroll', this.fit);
  }

  private fit = (): void => {
    const v = visualViewport;
    if (!v) return;
    this.element.style.setProperty('--visible-top', `${v.offsetTop}px`);
    this.element.style.setProperty('--visible-height', `${v.height}px`);
    const width = Math.round(v.width);
    const tallest = Math.max(this.tallest.get(width) ?? 0, v.height);
    this.tallest.set(width, tallest);
    const covered = tallest - v.height > keyboardPx;
    if (this.covered && !covered) this.uncovered();
    this.covered = covered;
  };
}
