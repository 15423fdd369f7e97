/** Local changes of the backends that are not stored yet. */
export interface PendingChanges {
  /** A change of the same name that has not been written takes the place of the earlier one. */
  begin(name: string, write: () => Promise<void>): PendingChange;
  /** The changes that could not be stored, to be written again. */
  failed(): readonly PendingChange[];
  /** Marks the start of a read from the store; one read at a time. */
  mark(): number;
  /** Whether a read after the mark includes the last change of this name. */
  isSettledSince(name: string, mark: number): boolean;
}

export interface PendingChange {
  readonly name: string;
  /** Rejects when the store does not take it. */
  write(): Promise<void>;
}

interface Entry extends PendingChange {
  state: 'writing' | 'failed' | 'written';
  /** When it was written. */
  sequence: number;
}

export function createPendingChanges(): PendingChanges {
  const entries = new Map<string, Entry>();
  let sequence = 0;

  function begin(name: string, write: () => Promise<void>): PendingChange {
    const entry: Entry = {
      name,
      state: 'writing',
      sequence: 0,
      async write() {
        entry.state = 'writing';
        try {
          await write();
          sequence += 1;
          entry.sequence = sequence;
          entry.state = 'written';
        } catch (error) {
          entry.state = 'failed';
          throw error;
        }
      },
    };
    entries.set(name, entry);
    return entry;
  }

  return {
    begin,
    failed: () => [...entries.values()].filter(({ state }) => state === 'failed'),
    mark() {
      // Every later read includes what is written by now.
      for (const { name, state } of entries.values()) {
        if (state === 'written') entries.delete(name);
      }
      return sequence;
    },
    isSettledSince(name, mark) {
      const entry = entries.get(name);
      if (entry === undefined) return true;
      return entry.state === 'written' && entry.sequence <= mark;
    },
  };
}
