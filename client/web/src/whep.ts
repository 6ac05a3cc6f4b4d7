// One WHEP session: a peer connection, its data channels, and the requests
// that set it up, restart its ICE, and end it.

import { ApiError, call } from './api';
import { hasDependencies, wantDependencies } from './dependency';
import { fragment } from './sdpfrag';

/**
 * Most host candidates are there within a few milliseconds; waiting longer for
 * the rest would delay every start. They are trickled.
 */
const gatherMs = 300;

export class WhepSession {
  readonly pc = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
  readonly control = this.pc.createDataChannel('control');
  readonly input = this.pc.createDataChannel('input');
  readonly pointer = this.pc.createDataChannel('pointer', { ordered: false, maxRetransmits: 0 });
  /** The host's video; silent until it comes. */
  readonly track: MediaStreamTrack;
  /** Where the host wants to know which pictures are shown; null while it does not. */
  confirms: RTCDataChannel | null = null;

  private readonly frames = this.pc.createDataChannel('frames', { ordered: false, maxRetransmits: 0 });

  private resource = '';
  private offer = '';
  private late: RTCIceCandidate[] = [];
  private gathered = false;
  private sending = false;
  private closed = false;

  constructor(private readonly sourceId: string) {
    const video = this.pc.addTransceiver('video', { direction: 'recvonly' });
    wantDependencies(video);
    this.track = video.receiver.track;
    this.pc.onicecandidate = (e) => {
      if (e.candidate) this.late.push(e.candidate);
      else this.gathered = true;
      void this.trickle();
    };
  }

  /** Offers and takes the answer. Throws ApiError, or what fetch throws. */
  async open(): Promise<void> {
    await this.prepare({});
    const path = `/whep/${encodeURIComponent(this.sourceId)}?pointer=viewer`;
    const response = await this.post('POST', path, 'application/sdp', this.offer);
    this.resource = response.headers.get('Location') ?? '';
    const answer = await response.text();
    if (this.closed) {
      this.end();
      return;
    }
    if (hasDependencies(answer)) this.confirms = this.frames;
    await this.pc.setRemoteDescription({ type: 'answer', sdp: answer });
    void this.trickle();
  }

  /** Renews the ICE credentials and finds the host over whatever network there is now. */
  async restart(): Promise<void> {
    if (!this.resource) throw new ApiError(0, 'there is no session to restart');
    await this.prepare({ iceRestart: true });
    const response = await this.post('PATCH', this.resource, 'application/sdp', this.offer);
    await this.pc.setRemoteDescription({ type: 'answer', sdp: await response.text() });
    void this.trickle();
  }

  /** Ends the session here and tells the host, also while the page goes away. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.pc.onicecandidate = null;
    this.pc.onconnectionstatechange = null;
    this.pc.close();
    this.end();
  }

  private end(): void {
    if (!this.resource) return;
    void call(this.resource, { method: 'DELETE', keepalive: true }).catch(() => {
      // The host notices a silent viewer by itself.
    });
    this.resource = '';
  }

  private async prepare(options: RTCOfferOptions): Promise<void> {
    this.offer = '';
    this.late = [];
    this.gathered = false;
    await this.pc.setLocalDescription(await this.pc.createOffer(options));
    await this.gatherFor(gatherMs);
    this.offer = this.pc.localDescription?.sdp ?? '';
    this.late = [];
  }

  private gatherFor(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      const check = (): void => {
        if (this.pc.iceGatheringState !== 'complete') return;
        clearTimeout(timer);
        this.pc.removeEventListener('icegatheringstatechange', check);
        resolve();
      };
      this.pc.addEventListener('icegatheringstatechange', check);
      check();
    });
  }

  private post(method: string, path: string, type: string, body: string): Promise<Response> {
    return call(path, { method, headers: { 'Content-Type': type, Accept: 'application/sdp' }, body });
  }

  /** Sends the candidates that came after the offer had left, in order. */
  private async trickle(): Promise<void> {
    if (this.sending || !this.resource || !this.offer || this.late.length === 0) return;
    this.sending = true;
    const batch = this.late.splice(0);
    try {
      await this.post('PATCH', this.resource, 'application/trickle-ice-sdpfrag', fragment(this.offer, batch, this.gathered));
    } catch {
      // Candidates are extra roads; without them the session may still connect.
    }
    this.sending = false;
    void this.trickle();
  }
}
