/** Usage that can never be stored as it is: trying again, or waiting, does not help. */
export class UsageRejectedError extends Error {
  override readonly name = 'UsageRejectedError';
}

/** A usage event that could not be stored. */
export interface RejectedUsage {
  /** Of its entry in the journal, which is the id of the event. */
  readonly id: string;
  /** The text of the journal. */
  readonly event: string;
  /** Why it was rejected last. */
  readonly error: string;
  readonly attempts: number;
  readonly firstRejectedAt: Date;
  readonly lastRejectedAt: Date;
}

/** Stores rejected events for an operator. */
export interface RejectedUsageStore {
  /** Stores an event; an existing one counts another attempt. */
  add(rejected: Pick<RejectedUsage, 'id' | 'event' | 'error'>): Promise<void>;
  /** The oldest first. */
  list(limit: number): Promise<readonly RejectedUsage[]>;
  find(id: string): Promise<RejectedUsage | undefined>;
  /** Removes an event and answers it. Of several that take the same one, one gets it. */
  take(id: string): Promise<RejectedUsage | undefined>;
  count(): Promise<number>;
}
