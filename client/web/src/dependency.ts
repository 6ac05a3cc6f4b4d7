// Asks the browser to take a picture's references from its packets and not from
// their order. A lost picture then costs no key frame: the host codes the next one
// against a picture that this page has shown.

/** The end of the extension's URI, which names nothing else. */
const extension = '#dependency-descriptor-rtp-header-extension';

/** Says whether an answer takes it. */
export function hasDependencies(sdp: string): boolean {
  return sdp.includes(extension);
}

/** What TypeScript's DOM does not know yet. */
interface HeaderExtension {
  uri: string;
  direction: string;
}
interface Negotiable {
  getHeaderExtensionsToNegotiate?(): HeaderExtension[];
  setHeaderExtensionsToNegotiate?(list: HeaderExtension[]): void;
}

/** Browsers know the extension and do not offer it by themselves. Others ignore this. */
export function wantDependencies(t: RTCRtpTransceiver): void {
  const n = t as unknown as Negotiable;
  const list = n.getHeaderExtensionsToNegotiate?.();
  const wanted = list?.find((e) => e.uri.endsWith(extension));
  if (!list || !wanted) return;
  wanted.direction = 'sendrecv';
  try {
    n.setHeaderExtensionsToNegotiate?.(list);
  } catch {
    // Losses cost key frames then, as everywhere else.
  }
}

/** The last pictures shown that each message names, so that one that is lost says nothing less. */
const named = 6;

/** Says at once which pictures are shown. */
export class Have {
  private last: number[] = [];

  shown(rtp: number, channel: RTCDataChannel | null): void {
    this.last.push(rtp);
    if (this.last.length > named) this.last.shift();
    // What waits to be sent is stale by the time it leaves.
    if (channel?.readyState === 'open' && channel.bufferedAmount === 0) channel.send(JSON.stringify({ type: 'have', rtp: this.last }));
  }
}
