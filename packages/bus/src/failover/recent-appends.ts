import type { Clock, JournalEntry } from '@model-gateway/kernel';

/** The last appends, which Redis may lose when it crashes: it writes its file and its replicas with a delay. */
export interface RecentAppends {
  add(entries: readonly JournalEntry[]): void;
  /** Removes and returns the entries that may be lost. */
  takeAll(): readonly JournalEntry[];
}

/** The texts are kept as bytes: every garbage collection would copy strings that live for seconds. */
interface Append {
  readonly at: number;
  readonly bytes: Buffer;
  /** The lengths of the id and the body of each entry, in turn. */
  readonly sizes: readonly number[];
}

// Redis delays writing its file for up to two seconds while an earlier write is in progress.
const DOUBTED_MS = 3_000;
const APPENDS_MAX = 50_000;

export function createRecentAppends({ clock }: { readonly clock: Clock }): RecentAppends {
  let appends: Append[] = [];
  let oldest = 0;

  function forget(): void {
    const past = clock.now() - DOUBTED_MS;
    while (oldest < appends.length && (appends[oldest]?.at ?? past) <= past) oldest += 1;
    if (appends.length - oldest > APPENDS_MAX) oldest = appends.length - APPENDS_MAX;
    // Moving the rest to the front is expensive, so it is done rarely.
    if (oldest * 2 < appends.length) return;
    appends = appends.slice(oldest);
    oldest = 0;
  }

  return {
    add(entries) {
      appends.push(pack(clock.now(), entries));
      forget();
    },
    takeAll() {
      forget();
      const doubted = appends.slice(oldest).flatMap(unpack);
      appends = [];
      oldest = 0;
      return doubted;
    },
  };
}

function pack(at: number, entries: readonly JournalEntry[]): Append {
  const sizes: number[] = [];
  let text = '';
  for (const { id, body } of entries) {
    text += id + body;
    sizes.push(id.length, body.length);
  }
  return { at, bytes: Buffer.from(text), sizes };
}

function unpack({ bytes, sizes }: Append): JournalEntry[] {
  const text = bytes.toString();
  const entries: JournalEntry[] = [];
  let at = 0;
  for (let index = 0; index < sizes.length; index += 2) {
    const bodyAt = at + (sizes[index] ?? 0);
    const end = bodyAt + (sizes[index + 1] ?? 0);
    entries.push({ id: text.slice(at, bodyAt), body: text.slice(bodyAt, end) });
    at = end;
  }
  return entries;
}
