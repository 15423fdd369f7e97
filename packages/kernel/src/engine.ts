import { setFlagsFromString } from 'node:v8';

/**
 * V8 learns where objects are made that live for long, and then makes them where only a full collection finds them. A server under load
 * teaches it wrongly: requests are under way whenever V8 looks. What they leave behind is then collected by full
 * collections, several a second, which cost a request a tenth of its time.
 */
export function tuneEngine(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
