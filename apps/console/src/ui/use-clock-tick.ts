import { useSyncExternalStore } from 'react';

const TICK_MS = 30_000;

const listeners = new Set<() => void>();
let ticks = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0)
    timer = setInterval(() => {
      ticks += 1;
      for (const each of listeners) each();
    }, TICK_MS);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

/** Renders a component again every half a minute, so that "3 minutes ago" stays true without new data. */
export function useClockTick(): void {
  useSyncExternalStore(subscribe, () => ticks);
}
