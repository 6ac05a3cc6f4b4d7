// The host's HTTP requests, apart from the WHEP ones.

import type { Rights } from './protocol';

export interface HostInfo {
  name: string;
  version: string;
  paired: boolean;
  rights: Rights | '';
  device: string;
  secure: boolean;
  /** What to open with; empty for the list. */
  source: string;
}

export interface Source {
  id: string;
  kind: string;
  title: string;
  app: string;
  x: number;
  y: number;
  width: number;
  height: number;
  scale: number;
  unavailable: string;
}

/** An answer that was not a success, with the host's own words when it gave any. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
    /** Seconds to wait before another try; 0 when the host named none. */
    readonly retryAfterS = 0,
    /** The answer's JSON, when it had some. */
    readonly body: unknown = null,
  ) {
    super(detail || `the host answered ${status}`);
  }
}

/** A request that takes longer has failed: the host answers these in milliseconds. */
const timeoutMs = 8000;

export async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const limit = AbortSignal.timeout(timeoutMs);
  const response = await fetch(path, { credentials: 'same-origin', cache: 'no-store', signal: limit, ...init });
  if (!response.ok) throw await problem(response);
  return response;
}

/** Reads an application/problem+json answer (RFC 9457). */
async function problem(response: Response): Promise<ApiError> {
  const retry = Number(response.headers.get('Retry-After')) || 0;
  let detail = '';
  let body: { title?: unknown; detail?: unknown } | null = null;
  try {
    body = (await response.json()) as { title?: unknown; detail?: unknown };
    detail = [body.detail, body.title].find((v): v is string => typeof v === 'string' && v !== '') ?? '';
  } catch {
    // The status alone has to do.
  }
  return new ApiError(response.status, detail, retry, body);
}

export async function host(): Promise<HostInfo> {
  return (await call('/api/host')).json() as Promise<HostInfo>;
}

export async function sources(): Promise<Source[]> {
  const list = (await (await call('/api/sources')).json()) as Partial<Source>[] | null;
  return (list ?? []).map((s) => ({
    id: s.id ?? '',
    kind: s.kind ?? '',
    title: s.title ?? '',
    app: s.app ?? '',
    x: s.x ?? 0,
    y: s.y ?? 0,
    width: s.width ?? 0,
    height: s.height ?? 0,
    scale: s.scale ?? 1,
    unavailable: s.unavailable ?? '',
  }));
}

export async function preview(id: string, widthPx: number): Promise<Blob> {
  return (await call(`/api/sources/${encodeURIComponent(id)}/preview?w=${widthPx}`)).blob();
}

export async function pair(code: string, name: string): Promise<void> {
  await call('/api/pair', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code, name }),
  });
}
