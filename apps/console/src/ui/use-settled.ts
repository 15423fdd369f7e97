import { useEffect, useState } from 'react';

/** Typing asks the service when it pauses, not for each character. */
const PAUSE_MS = 200;

/** A value that follows another once that stays the same for a moment. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
