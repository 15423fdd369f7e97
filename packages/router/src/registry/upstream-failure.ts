import { ServiceError } from '@model-gateway/contracts';

interface UpstreamFailureOptions {
  /**
   * Whether the backend is to blame: transport failures, 5xx and 429 count in its breaker and may be tried once on
   * another backend; a request that the upstream merely refused would be refused there too.
   */
  readonly isBackendAtFault: boolean;
  /** Whether the upstream certainly did nothing, so that asking again cannot do it twice; false where it is not known. */
  readonly hadNoEffect?: boolean;
  /** Whether there was an answer with a good status, but not one that can be understood. */
  readonly wasUnreadable?: boolean;
  /** What the upstream's answer said, where there was one. */
  readonly status?: number | undefined;
  /** What logs say instead, where the message quotes the upstream: it may in turn quote what a person wrote. */
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
