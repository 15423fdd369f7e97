import { ServiceError } from '@model-gateway/contracts';

/** Limits the sessions of each user in this process. */
export interface SessionSlots {
  /** Takes a slot, or throws; the returned function releases it. */
  take(userId: string): () => void;
}

const SESSIONS_PER_USER_MAX = 50;

export function createSessionSlots(perUserMax = SESSIONS_PER_USER_MAX): SessionSlots {
  const taken = new Map<string, number>();
  return {
    take(userId) {
      const before = taken.get(userId) ?? 0;
      if (before >= perUserMax) {
        throw new ServiceError(
          'rate_limit_exceeded',
          `too many realtime sessions: at most ${perUserMax} may be open`,
        );
      }
      taken.set(userId, before + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        const left = (taken.get(userId) ?? 1) - 1;
        if (left === 0) taken.delete(userId);
        else taken.set(userId, left);
      };
    },
  };
}
