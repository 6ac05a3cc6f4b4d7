// Trickled candidates as an SDP fragment (RFC 8840, as WHEP sends them). Pure.

export interface Candidate {
  candidate: string;
  sdpMid: string | null;
  usernameFragment: string | null;
}

/** One fragment for candidates of one offer, taken from the offer's own lines. */
export function fragment(offer: string, candidates: Candidate[], finished: boolean): string {
  const lines = offer.split(/\r?\n/);
  const find = (prefix: string): string => lines.find((l) => l.startsWith(prefix)) ?? '';
  const out = [find('a=ice-ufrag:'), find('a=ice-pwd:')];
  const mids = [...new Set(candidates.map((c) => c.sdpMid ?? '0'))];
  if (mids.length === 0) mids.push('0');
  for (const mid of mids) {
    out.push(mediaLine(lines, mid), `a=mid:${mid}`);
    for (const c of candidates) if ((c.sdpMid ?? '0') === mid && c.candidate) out.push(`a=${c.candidate}`);
    if (finished) out.push('a=end-of-candidates');
  }
  return out.filter((l) => l !== '').join('\r\n') + '\r\n';
}

/** The m= line of the section with this mid. */
function mediaLine(lines: string[], mid: string): string {
  const at = lines.indexOf(`a=mid:${mid}`);
  for (let i = at; i >= 0; i--) if (lines[i]?.startsWith('m=')) return lines[i] ?? '';
  return 'm=video 9 UDP/TLS/RTP/SAVPF 0';
}
