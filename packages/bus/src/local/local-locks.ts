import { randomToken, type Clock, type Locks } from '@model-gateway/kernel';
import { createExpiringMap } from './expiring-map.ts';

/** Locks inside one process, with the expiry and the tokens of the shared ones. */
export function createLocalLocks({ clock }: { readonly clock: Clock }): Locks {
  const holders = createExpiringMap<string>(clock);
  return {
    acquire(name, expiresAfterMs) {
      if (holders.get(name) !== undefined) return Promise.resolve(undefined);
      const token = randomToken();
      const isHeld = (): boolean => holders.get(name)?.value === token;
      holders.set(name, token, clock.now() + expiresAfterMs);
      return Promise.resolve({
        extend(extendedByMs) {
          const held = isHeld();
          if (held) holders.set(name, token, clock.now() + extendedByMs);
          return Promise.resolve(held);
        },
        release() {
          const held = isHeld();
          if (held) holders.delete(name);
          return Promise.resolve(held);
        },
      });
    },
  };
}
