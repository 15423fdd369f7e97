import type { Clock, JournalEntry } from '@model-gateway/kernel';

/** What Redis took lately and may lose when it dies: it writes its file a little behind, and replicas follow a little behind. */
export interface RecentAppends {
  add(entries: readonly JournalEntry[]): void;
  /** Takes out what is still in doubt. */
  takeAll(): readonly JournalEntry[];
}

interface Append {
  readonly at: number;
  readonly entries: readonly JournalEntry[];
}

// Redis puts off writing its file for up to two seconds, while an earlier part of it is on its way to the disk.
const DOUBTED_MS = 3_000;
const APPENDS_MAX = 50_000;

export function createRecentAppends({ clock }: { readonly clock: Clock }): RecentAppends {
  let appends: Append[] = [];
  let oldest = 0;

  function forget(): void {
    const past = clock.now() - DOUBTED_MS;
    while (oldest < appends.length && (appends[oldest]?.at ?? past) <= past) oldest += 1;
    if (appends.length - oldest > APPENDS_MAX) oldest = appends.length - APPENDS_MAX;
    // Moving the rest to the front is worth it only now and then.
    if (oldest * 2 < appends.length) return;
    appends = appends.slice(oldest);
    oldest = 0;
  }

  return {
    add(entries) {
      appends.push({ at: clock.now(), entries });
      forget();
    },
    takeAll() {
      forget();
      const doubted = appends.slice(oldest).flatMap(({ entries }) => entries);
      appends = [];
      oldest = 0;
      return doubted;
    },
  };
}
