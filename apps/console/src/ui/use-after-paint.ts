import { startTransition, useEffect, useState } from 'react';

/** A value that follows a change only after the next frame was painted: the response to a click is seen at once, and what takes long to render comes a moment later. */
export function useAfterPaint<Value>(value: Value, initial: Value = value): Value {
  const [shown, setShown] = useState(initial);
  useEffect(
    () => afterPaint(() => startTransition(() => setShown(() => value))),
    // Also for a value that is shown already: a change that was not painted yet is withdrawn.
    [value],
  );
  return shown;
}

/** Calls a function after the next frame was painted, unless the returned one is called before. */
export function afterPaint(task: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(task);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}
