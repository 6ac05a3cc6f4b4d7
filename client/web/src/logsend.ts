// Sends the stream logs to the host, where both ends' lie side by side.

import { ApiError, call } from './api';
import type { LogStore } from './logstore';

/** The host takes 64 KiB in one request, and so does a page that goes away. */
export const mostBytes = 48 * 1024;

/** What became of an attempt. */
export type Sent =
  | { kind: 'stored'; lines: number }
  | { kind: 'gone' } // the host knows no such stream, or wants none of it
  | { kind: 'later' };

export async function send(stream: string, from: number, lines: readonly string[], last = false): Promise<Sent> {
  try {
    const response = await call(`/api/streams/${stream}/log?from=${from}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/jsonl' },
      body: lines.join(''),
      keepalive: last,
    });
    return stored(await response.json());
  } catch (err) {
    if (!(err instanceof ApiError)) return { kind: 'later' };
    if (err.status === 409) return stored(err.body);
    return [400, 404, 413, 415].includes(err.status) ? { kind: 'gone' } : { kind: 'later' };
  }
}

function stored(body: unknown): Sent {
  const lines = (body as { stored?: unknown } | null)?.stored;
  return typeof lines === 'number' && Number.isInteger(lines) && lines >= 0 ? { kind: 'stored', lines } : { kind: 'later' };
}

/**
 * Sends what earlier pages could not, but for the streams of this one. A stream
 * whose lines do not go on where the host's end is given up.
 */
export async function sendLeftovers(kept: LogStore, ours: (stream: string) => boolean): Promise<void> {
  for (const stream of await kept.streams()) {
    while (!ours(stream)) {
      const { from, lines } = await kept.first(stream, mostBytes);
      if (lines.length === 0) break;
      const sent = await send(stream, from, lines);
      if (sent.kind === 'later') return;
      const on = sent.kind === 'stored' && sent.lines > from;
      await kept.drop(stream, on ? sent.lines : Infinity);
      if (!on) break;
    }
  }
}
