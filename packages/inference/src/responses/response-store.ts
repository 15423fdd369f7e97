/** A stored response of the Responses API. */
export interface StoredResponse {
  readonly id: string;
  /** The response that it continues. */
  readonly previousId: string | null;
  /** JSON: the items of its request, without those of earlier responses. */
  readonly input: string;
  /** JSON: the Response object. */
  readonly response: string;
}

export interface NewStoredResponse extends StoredResponse {
  readonly userId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** How much history is read. */
export interface ChainLimits {
  readonly responsesMax: number;
  readonly bytesMax: number;
}

/** A response and those that it continues, oldest first. */
export interface ResponseChain {
  readonly responses: readonly StoredResponse[];
  /** Why older ones are not there: one was deleted or expired, or there are more than the limits allow. */
  readonly missing: 'nothing' | 'deleted' | 'too-long';
}

/** Stores responses until they expire. Those of other users are not found. */
export interface ResponseStore {
  save(response: NewStoredResponse): Promise<void>;
  /** Those of these ids that exist, in any order. */
  find(userId: string, ids: readonly string[], now: Date): Promise<readonly StoredResponse[]>;
  /** Undefined if there is no such response. */
  chain(
    userId: string,
    id: string,
    now: Date,
    limits: ChainLimits,
  ): Promise<ResponseChain | undefined>;
  /** Whether there was one. */
  remove(userId: string, id: string, now: Date): Promise<boolean>;
  /** Deletes up to this many of the oldest ones of a user who has more than `keptMax`. */
  removeOldest(userId: string, keptMax: number, countMax: number): Promise<void>;
  /** Deletes up to this many that expired before; returns how many. */
  removeExpired(before: Date, countMax: number): Promise<number>;
}
