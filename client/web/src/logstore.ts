// Keeps the lines of the stream logs that the host does not have yet, in
// IndexedDB: they outlive the page. A browser without it (a private window of
// some) keeps them for as long as the page is open.

const name = 'nearglass';
const store = 'lines';

/** A line by its stream and its number there. */
interface Kept {
  stream: string;
  n: number;
  text: string;
}

/** So many lines of one stream are kept: an hour and more without the host. */
export const mostLines = 5000;

export class LogStore {
  private readonly db: Promise<IDBDatabase | null>;

  constructor() {
    this.db = open();
  }

  async put(stream: string, n: number, text: string): Promise<void> {
    if (n > mostLines * 100) return;
    await this.change((s) => s.put({ stream, n, text } satisfies Kept));
  }

  /** Forgets the lines before this one. */
  async drop(stream: string, before: number): Promise<void> {
    await this.change((s) => s.delete(IDBKeyRange.bound([stream, 0], [stream, before], false, true)));
  }

  /** The streams of which lines are kept. */
  async streams(): Promise<string[]> {
    const found = new Set<string>();
    await this.look((s, done) => {
      // From one stream's first line to the next stream's, over all between.
      const from = (range?: IDBKeyRange): void => {
        s.openKeyCursor(range).onsuccess = (e) => {
          const cursor = (e.target as IDBRequest<IDBCursor | null>).result;
          if (!cursor) return done();
          const [stream] = cursor.key as [string, number];
          found.add(stream);
          from(IDBKeyRange.lowerBound([stream, Infinity], true));
        };
      };
      from();
    });
    return [...found];
  }

  /** The first lines of a stream, up to so many characters. */
  async first(stream: string, most: number): Promise<{ from: number; lines: string[] }> {
    const lines: string[] = [];
    let from = 0;
    let size = 0;
    await this.look((s, done) => {
      s.openCursor(IDBKeyRange.bound([stream, 0], [stream, Infinity])).onsuccess = (e) => {
        const cursor = (e.target as IDBRequest<IDBCursorWithValue | null>).result;
        const kept = cursor?.value as Kept | undefined;
        if (!cursor || !kept || size + kept.text.length > most || (lines.length > 0 && kept.n !== from + lines.length)) return done();
        if (lines.length === 0) from = kept.n;
        lines.push(kept.text);
        size += kept.text.length;
        cursor.continue();
      };
    });
    return { from, lines };
  }

  private async change(what: (s: IDBObjectStore) => void): Promise<void> {
    const db = await this.db;
    if (!db) return;
    await new Promise<void>((resolve) => {
      const t = db.transaction(store, 'readwrite');
      t.oncomplete = t.onabort = t.onerror = () => resolve();
      what(t.objectStore(store));
    });
  }

  private async look(what: (s: IDBObjectStore, done: () => void) => void): Promise<void> {
    const db = await this.db;
    if (!db) return;
    await new Promise<void>((resolve) => {
      const t = db.transaction(store, 'readonly');
      t.onabort = t.onerror = () => resolve();
      what(t.objectStore(store), resolve);
    });
  }
}

function open(): Promise<IDBDatabase | null> {
  return new Promise((resolve) => {
    try {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(store, { keyPath: ['stream', 'n'] });
      request.onsuccess = () => resolve(request.result);
      request.onerror = request.onblocked = () => resolve(null);
    } catch {
      resolve(null);
    }
  });
}
