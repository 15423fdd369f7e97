import { lazy, Suspense, useSyncExternalStore } from 'react';

const ToastList = lazy(async () => ({ default: (await import('./toast-list.tsx')).ToastList }));

interface Said {
  readonly text: string;
}

let last: Said | undefined;
const listeners = new Set<() => void>();

/** Says for a moment that something was done. */
export function showToast(text: string): void {
  last = { text };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Where toasts are shown, once in the page. Most visits have none, so their code is loaded with the first. */
export function Toasts() {
  const toast = useSyncExternalStore(subscribe, () => last);
  return toast === undefined ? null : (
    <Suspense>
      <ToastList toast={toast} />
    </Suspense>
  );
}
