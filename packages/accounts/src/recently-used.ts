/** A map with room for so many entries: when it is full, the least recently used one makes way. */
export interface RecentlyUsed<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  deleteWhere(matches: (value: Value) => boolean): void;
  clear(): void;
}

export function createRecentlyUsed<Value>(entriesMax: number): RecentlyUsed<Value> {
  // A map iterates in the order of insertion; whatever is used is inserted anew.
  const map = new Map<string, Value>();

  function insertLast(key: string, value: Value): void {
    map.delete(key);
    map.set(key, value);
  }

  return {
    get(key) {
      const value = map.get(key);
      if (value !== undefined) insertLast(key, value);
      return value;
    },
    set(key, value) {
      insertLast(key, value);
      if (map.size <= entriesMax) return;
      for (const oldest of map.keys()) {
        map.delete(oldest);
        return;
      }
    },
    delete: (key) => void map.delete(key),
    deleteWhere(matches) {
      for (const [key, value] of map) if (matches(value)) map.delete(key);
    },
    clear: () => map.clear(),
  };
}
