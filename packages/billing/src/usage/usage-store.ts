import type { FailedRequest, MediaTokens, PriceRecord, UsageEvent } from '@model-gateway/contracts';
import type { AdmissionFacts } from '../admission/admission-store.ts';

/** One metered request as it is stored and shown. */
export interface UsageRecord {
  readonly id: string;
  readonly apiKeyId: string;
  readonly keyId: string | null;
  readonly userId: string;
  readonly project: string | null;
  readonly groupId: string | null;
  readonly model: string;
  /** The API through which it came. */
  readonly surface: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly cost: number | null;
  readonly points: number | null;
  readonly accountType: 'user' | 'group' | null;
  readonly refId: string | null;
  readonly createdAt: Date;
  /** The name of the backend that served it. Like the fields below null in rows of earlier versions. */
  readonly upstream: string | null;
  readonly cachedTokens: number | null;
  readonly latencyMs: number | null;
  readonly firstTokenMs: number | null;
  /** As an HTTP status. */
  readonly status: number | null;
  readonly cacheWriteTokens: number | null;
  /** Which of the tokens are no text. */
  readonly mediaTokens: MediaTokens | null;
  /** Generated images, and the length of the audio, where they are priced. */
  readonly images: number | null;
  readonly audioSeconds: number | null;
  /** The price that the cost was computed with, and its source. */
  readonly price: PriceRecord | null;
  /** Whether the gateway had stored the answer. */
  readonly cached: boolean | null;
}

export interface UsagePage {
  readonly records: readonly UsageRecord[];
  readonly total: number;
}

/** The result of a batch. */
export interface RecordedBatch {
  /** How many events were new; failed requests are not counted. */
  readonly added: number;
  /** How many points were paid for them. */
  readonly points: number;
  /** The windows and accounts of all its events, as they are now. */
  readonly facts: AdmissionFacts;
}

interface RecordOptions {
  readonly pointsPerUsd: number;
  /** Requests that were not served. */
  readonly failures?: readonly FailedRequest[];
}

/** Stores metered requests, and failed ones that are counted with them. */
export interface UsageStore {
  /**
   * Settles and writes a batch in one transaction; what was stored before changes nothing. Rejects with a
   * UsageRejectedError when something of the batch can never be stored, and with `store_unavailable` while the store is away or
   * busy. Any other error is a mistake of the code.
   */
  record(events: readonly UsageEvent[], options: RecordOptions): Promise<RecordedBatch>;
  /** A user's rows, newest first; with a project, only the rows of keys with that label. */
  list(query: {
    readonly userId: string;
    readonly project?: string | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<UsagePage>;
}
