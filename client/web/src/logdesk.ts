// The page's stream logs: the one that is being written, and those of earlier
// pages that the host does not have yet.

import { Hints } from './loghints';
import { Logbook } from './logbook';
import { sendLeftovers } from './logsend';
import { LogStore } from './logstore';
import type { ViewerSecond } from './logschema';
import type { ControlMessage, ShownAt } from './protocol';

export class LogDesk {
  private readonly kept = new LogStore();
  private hints: Hints | null = null;
  private book: Logbook | null = null;
  private named = '';

  /** @param version gives the host's version, which is this page's */
  constructor(private readonly version: () => string) {}

  /** Sends what earlier pages could not. */
  leftovers(): void {
    void sendLeftovers(this.kept, (stream) => stream === this.named);
  }

  /** A stream begins; the one before is over. */
  open(pc: RTCPeerConnection, tell: (m: ControlMessage) => void, state: () => string): void {
    this.close('the page began a new stream');
    this.hints ??= new Hints();
    this.book = new Logbook(pc, { kept: this.kept, hints: this.hints, version: this.version(), tell, state });
  }

  begin(stream: string, trace: boolean): void {
    this.book?.begin(stream, trace);
    this.named = this.book?.id ?? '';
    this.leftovers(); // of the stream before, if the host was gone at its end
  }

  pong(sent: number, host: number | undefined): void {
    if (host !== undefined) this.book?.pong(sent, host);
  }

  shown(meta: VideoFrameCallbackMetadata): ShownAt | null {
    return this.book?.shown(meta) ?? null;
  }

  /** An input was seen after so many ms. */
  input(ms: number): void {
    this.book?.input(ms);
  }

  /** The record of the last second of this stream. */
  get newest(): ViewerSecond | null {
    return this.book?.newest ?? null;
  }

  close(reason: string): void {
    this.book?.close(reason);
    this.book = null;
  }

  /** Sends what there is and has the browser save the report on the newest stream. */
  async report(): Promise<boolean> {
    if (!this.named) return false;
    await this.book?.flush();
    const link = document.createElement('a');
    link.href = `/api/streams/${this.named}/report`;
    link.download = '';
    link.click();
    return true;
  }
}
