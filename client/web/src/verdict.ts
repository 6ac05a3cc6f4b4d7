// What the watch screen shows of a connection and of the host's own state. Pure.

import type { StateInfo } from './protocol';
import { sentence } from './notices';

export type Phase = 'connecting' | 'connected' | 'lost' | 'failed';

export interface Verdict {
  state: 'connecting' | 'live' | 'paused' | 'reconnecting' | 'ended' | 'failed';
  title: string;
  words: string;
  /** Nothing will change by itself: the person decides. */
  final: boolean;
}

/** fresh: a picture of the present session has been shown. */
export function verdict(phase: Phase, fresh: boolean, host: StateInfo | null, why: string): Verdict {
  const moving = (state: Verdict['state'], words: string): Verdict => ({ state, title: '', words, final: false });
  if (host?.state === 'ended') {
    return { state: 'ended', title: 'The stream has ended', words: sentence(host.reason) || 'The host ended it.', final: true };
  }
  switch (phase) {
    case 'failed':
      return { state: 'failed', title: 'The source cannot be shown', words: sentence(why), final: true };
    case 'lost':
      return moving('reconnecting', `Reconnecting\u2026 ${sentence(why)}`.trim());
    case 'connecting':
      return moving('connecting', 'Connecting\u2026');
    case 'connected':
      if (host?.state === 'paused') return moving('paused', `Paused. ${sentence(host.reason)}`.trim());
      return fresh ? moving('live', '') : moving('connecting', 'Waiting for the picture\u2026');
  }
}
