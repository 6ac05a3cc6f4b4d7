// Counts the pictures that were shown and tells the host which was the newest.

import type { ControlMessage, ShownAt } from './protocol';

/** The contract with the host: at most five reports a second, and the last picture before stillness. */
const reportMs = 200;

export class Frames {
  count = 0;
  /** RTP timestamp of the newest picture shown. */
  rtp = 0;
  private reported = -Infinity;
  private timer = 0;
  private handle = 0;
  private at: ShownAt | null = null;

  constructor(
    private readonly video: HTMLVideoElement,
    private readonly send: (m: ControlMessage) => void,
    private readonly shown: () => void,
    /** Takes a picture's times; gives them on the host's clock. */
    private readonly timed: (meta: VideoFrameCallbackMetadata) => ShownAt | null,
    /** Takes each picture that names itself, at once. */
    private readonly have: (rtp: number) => void,
  ) {
    if ('requestVideoFrameCallback' in video) this.next();
    // Firefox before 132: coarser, but the picture is known to have come.
    else (video as HTMLVideoElement).addEventListener('timeupdate', this.progressed);
  }

  dispose(): void {
    clearTimeout(this.timer);
    if (this.handle) this.video.cancelVideoFrameCallback(this.handle);
    this.video.removeEventListener('timeupdate', this.progressed);
  }

  private progressed = (): void => {
    this.count++;
    this.shown();
  };

  private next(): void {
    this.handle = this.video.requestVideoFrameCallback((_now, meta) => {
      this.count++;
      this.next();
      this.at = this.timed(meta);
      if (meta.rtpTimestamp !== undefined) {
        this.rtp = meta.rtpTimestamp;
        this.have(this.rtp);
        this.report();
      }
      this.shown();
    });
  }

  private report(): void {
    clearTimeout(this.timer);
    const wait = this.reported + reportMs - performance.now();
    if (wait > 0) {
      this.timer = window.setTimeout(() => this.report(), wait);
      return;
    }
    this.reported = performance.now();
    this.send({ type: 'shown', rtp: this.rtp, ...this.at });
  }
}
