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

/** The items of a stored response, as they are counted before its texts are read. */
export interface StoredItemSizes {
  readonly inputItems: number;
  readonly outputItems: number;
  readonly largestInputBytes: number;
  readonly largestOutputBytes: number;
}

export interface NewStoredResponse extends StoredResponse, StoredItemSizes {
  readonly userId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** How large a stored response is. */
export interface StoredResponseSize extends StoredItemSizes {
  readonly id: string;
  readonly previousId: string | null;
  /** Of both texts, in UTF-8. */
  readonly bytes: number;
}

/** The sizes of a response and of those that it continues, oldest first. */
export interface ResponseChain {
  readonly responses: readonly StoredResponseSize[];
  /** Why older ones are not there: one was deleted or expired, or there are more than were asked for. */
  readonly missing: 'nothing' | 'deleted' | 'too-long';
}

/** Stores responses until they expire. Those of other users are not found. */
export interface ResponseStore {
  /** False when it would not fit beside the conversations of its user, or the user was erased: then it is not stored. */
  save(response: NewStoredResponse, storedBytesMax: number): Promise<boolean>;
  /** The sizes of those of these ids that exist, in any order; reads no texts. */
  sizes(userId: string, ids: readonly string[], now: Date): Promise<readonly StoredResponseSize[]>;
  /** Undefined if there is no such response; reads no texts. */
  chain(
    userId: string,
    id: string,
    now: Date,
    responsesMax: number,
  ): Promise<ResponseChain | undefined>;
  /** Those of these ids that exist, in any order. Only their sizes tell how much that is. */
  find(userId: string, ids: readonly string[], now: Date): Promise<readonly StoredResponse[]>;
  /** Whether there was one. */
  remove(userId: string, id: string, now: Date): Promise<boolean>;
  /** Deletes up to this many of the oldest ones of a user who has more than `keptMax`. */
  removeOldest(userId: string, keptMax: number, countMax: number): Promise<void>;
  /** Deletes the oldest ones of a user who stores more than this, conversations included, and somewhat more than needed. */
  removeBeyond(userId: string, storedBytesMax: number): Promise<void>;
  /** Deletes up to this many that expired before; returns how many. */
  removeExpired(before: Date, countMax: number): Promise<number>;
}
