import { ServiceError } from '@model-gateway/contracts';

/** How many sessions each user has in this process. */
export interface Seats {
  /** Takes one, or refuses; the answer gives it back. */
  take(userId: string): () => void;
}

const SESSIONS_PER_USER_MAX = 50;

export function createSeats(perUserMax = SESSIONS_PER_USER_MAX): Seats {
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
