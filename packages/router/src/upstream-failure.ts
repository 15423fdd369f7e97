import { ServiceError } from '@model-gateway/contracts';

interface UpstreamFailureOptions {
  /**
   * Whether the backend is to blame: transport failures, 5xx and 429 count in its breaker and may be tried once on
   * another backend; a request that the upstream merely refused would be refused there too.
   */
  readonly isBackendAtFault: boolean;
  readonly cause?: unknown;
}

/** A failure of an upstream that had been chosen. */
export class UpstreamFailure extends ServiceError {
  readonly isBackendAtFault: boolean;

  constructor(message: string, { isBackendAtFault, cause }: UpstreamFailureOptions) {
    super('bad_gateway', message, cause === undefined ? {} : { cause });
    this.isBackendAtFault = isBackendAtFault;
  }
}
