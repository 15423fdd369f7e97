// What the objects around the texts of an entry take.
const ENTRY_BYTES = 512;

/** The size of one stored entry. */
export interface StoredSize {
  /** The entry's texts have this many bytes now. */
  resize(bytes: number): void;
  /** The entry is no longer stored. Idempotent. */
  release(): void;
}

/** A limit for all entries of several logs together: a page decides how many there are and how large they get. */
export interface ByteBudget {
  /** Stores an entry; `drop` removes it when newer ones need its place, oldest first. */
  store(bytes: number, drop: () => void): StoredSize;
}

export function createByteBudget(bytesMax: number): ByteBudget {
  // In the order of their arrival.
  const stored = new Set<{ bytes: number; readonly drop: () => void }>();
  let total = 0;

  function shrink(): void {
    for (const entry of stored) {
      if (total <= bytesMax) return;
      stored.delete(entry);
      total -= entry.bytes;
      entry.drop();
    }
  }

  return {
    store(bytes, drop) {
      const entry = { bytes: bytes + ENTRY_BYTES, drop };
      stored.add(entry);
      total += entry.bytes;
      shrink();
      return {
        resize(now) {
          if (!stored.has(entry)) return;
          total += now + ENTRY_BYTES - entry.bytes;
          entry.bytes = now + ENTRY_BYTES;
          shrink();
        },
        release() {
          if (stored.delete(entry)) total -= entry.bytes;
        },
      };
    },
  };
}

/** The size of texts, of which some may be missing. */
export function textBytes(...texts: readonly (string | null | undefined)[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0);
}
