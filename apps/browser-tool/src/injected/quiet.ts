import { searchRoots } from './composed-tree.ts';
import { isScriptless } from './waiting.ts';

/** Waits until the document has not changed for a while, or until the timeout. */
export function awaitQuiet({
  quietMs,
  capMs,
}: {
  readonly quietMs: number;
  readonly capMs: number;
}): Promise<void> {
  if (isScriptless()) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      observer.disconnect();
      clearTimeout(quiet);
      clearTimeout(cap);
      resolve();
    };
    const observer = new MutationObserver(() => {
      clearTimeout(quiet);
      quiet = setTimeout(done, quietMs);
    });
    const what = { subtree: true, childList: true, attributes: true, characterData: true };
    for (const root of searchRoots(document)) observer.observe(root, what);
    let quiet = setTimeout(done, quietMs);
    const cap = setTimeout(done, capMs);
  });
}
