import { useCallback, useEffect, useRef, useState } from 'react';
import { afterPaint } from './use-after-paint.ts';

/**
 * A text of the address that the user changes. It is shown at once and written to the address after that was painted: a change of
 * the address concerns the whole page, and typing must not wait for it. It follows the address when that changes otherwise.
 */
export function useAddressText(
  inAddress: string,
  write: (text: string) => Promise<unknown>,
): readonly [string, (text: string) => void] {
  const [text, setText] = useState(inAddress);
  // What was written last and is not in the address yet.
  const written = useRef<string>(undefined);
  const latestWrite = useRef(write);
  useEffect(() => {
    latestWrite.current = write;
  });
  useEffect(() => {
    if (written.current === undefined) setText(inAddress);
  }, [inAddress]);
  const change = useCallback((next: string) => {
    const save = async (): Promise<void> => {
      if (written.current !== next) return;
      await latestWrite.current(next);
      if (written.current === next) written.current = undefined;
    };
    setText(next);
    written.current = next;
    afterPaint(() => void save());
  }, []);
  return [text, change];
}
