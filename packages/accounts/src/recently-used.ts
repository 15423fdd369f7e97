/** A map with room for about so many entries: when it is full, those that were not used lately make way. */
export interface RecentlyUsed<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  deleteWhere(matches: (value: Value) => boolean): void;
  clear(): void;
}

/** Two halves: what is used moves to the young one, and when that is full, the old one is forgotten whole. Reading is one look. */
export function createRecentlyUsed<Value>(entriesMax: number): RecentlyUsed<Value> {
  const halfMax = Math.ceil(entriesMax / 2);
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();

  function insert(key: string, value: Value): void {
    if (young.size >= halfMax && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }

  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const aged = old.get(key);
      if (aged === undefined) return undefined;
      old.delete(key);
      insert(key, aged);
      return aged;
    },
    set(key, value) {
      old.delete(key);
      insert(key, value);
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    deleteWhere(matches) {
      for (const map of [young, old])
        for (const [key, value] of map) if (matches(value)) map.delete(key);
    },
    clear() {
      young.clear();
      old.clear();
    },
  };
}
