import { useCallback, useEffect, useRef, useState } from 'react';
import { afterPaint } from './use-after-paint.ts';

/** Calls a function later, unless the returned one is called before. */
type Later = (task: () => void) => () => void;

/** Typing asks the service when it pauses, not for each character. */
const PAUSE_MS = 200;

export const afterPause: Later = (task) => {
  const timer = setTimeout(task, PAUSE_MS);
  return () => clearTimeout(timer);
};

/**
 * A text of the address that the user changes. It is shown at once and written to the address after that was painted: a change of
 * the address concerns the whole page, and typing must not wait for it. It follows the address when that changes otherwise.
 */
export function useAddressText(
  inAddress: string,
  write: (text: string) => Promise<unknown>,
  later: Later = afterPaint,
): readonly [string, (text: string) => void] {
  const [text, setText] = useState(inAddress);
  // What was written last and is not in the address yet.
  const written = useRef<string>(undefined);
  const cancel = useRef<() => void>(undefined);
  const latestWrite = useRef(write);
  useEffect(() => {
    latestWrite.current = write;
  });
  useEffect(() => {
    if (written.current === undefined) setText(inAddress);
  }, [inAddress]);
  // Who has left the page is not led back to it.
  useEffect(() => () => cancel.current?.(), []);
  const change = useCallback(
    (next: string) => {
      const save = async (): Promise<void> => {
        await latestWrite.current(next);
        if (written.current === next) written.current = undefined;
      };
      setText(next);
      written.current = next;
      cancel.current?.();
      cancel.current = later(() => void save());
    },
    [later],
  );
  return [text, change];
}
