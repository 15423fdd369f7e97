import { setFlagsFromString } from 'node:v8';

/**
 * V8 learns where objects are made that live for long, and then makes them where only a full collection finds them. A server under load
 * teaches it wrongly: requests are under way whenever V8 looks. What they leave behind then waits for full collections, which come
 * every second or so.
 */
export function tuneV8(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
