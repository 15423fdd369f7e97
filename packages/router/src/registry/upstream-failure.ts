import { ServiceError, UpstreamError, type UpstreamErrorFields } from '@model-gateway/contracts';

interface UpstreamFailureOptions {
  /**
   * Whether the backend is at fault, and not the request: then it may be retried once on another backend. Transport failures,
   * 5xx and 429 are such failures; a request that the upstream rejected would be rejected there too.
   */
  readonly isBackendAtFault: boolean;
  /** Whether the upstream certainly did nothing, so that a retry is safe; false if unknown. */
  readonly hadNoEffect?: boolean;
  /** Whether there was a response with a good status that could not be parsed. */
  readonly wasUnreadable?: boolean;
  /** Whether the upstream answered, and so works on requests; by default a status or an unreadable response says so. */
  readonly wasAnswered?: boolean;
  /** The status of the upstream's response, if there was one. */
  readonly status?: number | undefined;
  /** Whether a rate limit of the upstream refused the request; by default a status of 429 says so. */
  readonly isRateLimit?: boolean;
  /** Whether the upstream says that it does not have the model. */
  readonly isModelMissing?: boolean;
  /** Whether the upstream took too long. */
  readonly isTimeout?: boolean;
  /** The error of the upstream, as users may see it. */
  readonly upstream?: UpstreamErrorFields | undefined;
  /** When the upstream says that it can be tried again. */
  readonly retryAfterSecs?: number | undefined;
  /** Whether the same request cannot succeed later; by default the status decides. */
  readonly isFinal?: boolean;
  /** The text for logs if the message quotes the upstream, since that may quote a prompt. */
  readonly loggedAs?: string | undefined;
  readonly cause?: unknown;
}

const TOO_MANY_REQUESTS = 429;
/** The upstream refused the key of the backend, which only the operator can change. */
const KEY_REFUSED: readonly unknown[] = [401, 403];
/** The client errors that can pass: a time-out, a conflict, too early, a rate limit. */
const PASSING: readonly number[] = [408, 409, 425, TOO_MANY_REQUESTS];

/** A failure of an upstream that had been chosen. */
export class UpstreamFailure extends UpstreamError {
  readonly isBackendAtFault: boolean;
  readonly hadNoEffect: boolean;
  readonly wasUnreadable: boolean;
  readonly wasAnswered: boolean;
  readonly isRateLimit: boolean;
  readonly isModelMissing: boolean;
  readonly isTimeout: boolean;
  readonly status: number | undefined;
  readonly loggedAs: string | undefined;

  constructor(message: string, options: UpstreamFailureOptions) {
    const { status, upstream, retryAfterSecs, isFinal = isFinalStatus(status), cause } = options;
    const code = KEY_REFUSED.includes(status) ? 'upstream_auth' : 'bad_gateway';
    super(code, message, { upstream, retryAfterSecs, isFinal, cause });
    this.isBackendAtFault = options.isBackendAtFault;
    this.hadNoEffect = options.hadNoEffect ?? false;
    this.wasUnreadable = options.wasUnreadable ?? false;
    this.wasAnswered = options.wasAnswered ?? (status !== undefined || this.wasUnreadable);
    this.isRateLimit = options.isRateLimit ?? status === TOO_MANY_REQUESTS;
    this.isModelMissing = options.isModelMissing ?? false;
    this.isTimeout = options.isTimeout ?? false;
    this.status = status;
    this.loggedAs = options.loggedAs;
  }
}

/** A request that the chosen backend cannot take. Nothing was sent, so another backend can be chosen. */
export class UnsupportedByBackend extends ServiceError {}

const isFinalStatus = (status = 0): boolean =>
  status >= 400 && status < 500 && !PASSING.includes(status);
