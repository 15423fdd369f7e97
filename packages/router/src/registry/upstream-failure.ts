import { ServiceError } from '@model-gateway/contracts';

interface UpstreamFailureOptions {
  /**
   * Whether the backend is at fault: transport failures, 5xx and 429 count in its breaker and may be retried once on another
   * backend; a request that the upstream rejected would be rejected there too.
   */
  readonly isBackendAtFault: boolean;
  /** Whether the upstream certainly did nothing, so that a retry is safe; false if unknown. */
  readonly hadNoEffect?: boolean;
  /** Whether there was a response with a good status that could not be parsed. */
  readonly wasUnreadable?: boolean;
  /** The status of the upstream's response, if there was one. */
  readonly status?: number | undefined;
  /** The text for logs if the message quotes the upstream, since that may quote a prompt. */
  readonly loggedAs?: string | undefined;
  readonly cause?: unknown;
}

/** A failure of an upstream that had been chosen. */
export class UpstreamFailure extends ServiceError {
  readonly isBackendAtFault: boolean;
  readonly hadNoEffect: boolean;
  readonly wasUnreadable: boolean;
  readonly status: number | undefined;
  readonly loggedAs: string | undefined;

  constructor(message: string, options: UpstreamFailureOptions) {
    const { cause } = options;
    super('bad_gateway', message, cause === undefined ? {} : { cause });
    this.isBackendAtFault = options.isBackendAtFault;
    this.hadNoEffect = options.hadNoEffect ?? false;
    this.wasUnreadable = options.wasUnreadable ?? false;
    this.status = options.status;
    this.loggedAs = options.loggedAs;
  }
}
