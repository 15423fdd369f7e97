import type { AdmissionStore } from '@model-gateway/billing';
import type { FallBack } from './fall-back.ts';

interface FailoverAdmissionOptions {
  readonly redis: AdmissionStore;
  readonly local: AdmissionStore;
  readonly fallBack: FallBack;
}

/**
 * While Redis is away this process limits by itself, from nothing, and knows only the facts that it learns meanwhile.
 * None of it is handed back: a minute later the limits are exact again, and facts come from the database.
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
  };
}
