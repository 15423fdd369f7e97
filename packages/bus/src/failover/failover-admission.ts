import type { AdmissionStore } from '@model-gateway/billing';
import type { FallBack } from './fall-back.ts';

interface FailoverAdmissionOptions {
  readonly redis: AdmissionStore;
  readonly local: AdmissionStore;
  readonly fallBack: FallBack;
}

/**
 * While Redis is unavailable, this process counts limits and calls locally, from zero, and knows only the facts that it
 * reads meanwhile. None of it is copied to Redis: a minute later the limits are exact again, and facts come from the database.
 */
export function createFailoverAdmission(options: FailoverAdmissionOptions): AdmissionStore {
  const { redis, local, fallBack } = options;
  return {
    admit: (request) =>
      fallBack(
        () => redis.admit(request),
        () => local.admit(request),
      ),
    updateHints: (facts) =>
      fallBack(
        () => redis.updateHints(facts),
        () => local.updateHints(facts),
      ),
    // A call that was extended during an outage is in both.
    endCall(end) {
      local.endCall(end);
      redis.endCall(end);
    },
  };
}
