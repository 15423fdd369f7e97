/** Whether the document runs no scripts, such as a sandboxed frame: there the browser calls no timers of the tool either. */
export function isScriptless(): boolean {
  return matchMedia('(scripting: none)').matches;
}

/** Waits for the next animation frame; a background page has none, so there is a timeout. False when none came. */
export function nextAnimationFrame(timeoutMs: number): Promise<boolean> {
  if (isScriptless()) return Promise.resolve(true);
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve(true));
    setTimeout(() => resolve(false), timeoutMs);
  });
}
