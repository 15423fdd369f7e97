/** Usage that can never be stored as it is: trying again, or waiting, does not help. */
export class UsageRejectedError extends Error {
  override readonly name = 'UsageRejectedError';
}

/** A usage event that could not be stored, or that a recorder could not handle. */
export interface RejectedUsage {
  /** Of its entry in the journal, which is the id of the event. */
  readonly id: string;
  /** The text of the journal. */
  readonly event: string;
  /** Why it was rejected last. */
  readonly error: string;
  readonly attempts: number;
  /** Whether a recorder waits for it; it is set aside otherwise. */
  readonly halts: boolean;
  readonly firstRejectedAt: Date;
  readonly lastRejectedAt: Date;
}

/** Stores rejected events for an operator. */
export interface RejectedUsageStore {
  /** Sets an event aside; an existing one counts another attempt. */
  add(rejected: Pick<RejectedUsage, 'id' | 'event' | 'error'>): Promise<void>;
  /** Stores an event that a recorder waits for. False when it is set aside: then the recorder goes on without it. */
  halt(rejected: Pick<RejectedUsage, 'id' | 'event' | 'error'>): Promise<boolean>;
  /** The events that recorders wait for, the oldest first. */
  halting(): Promise<readonly RejectedUsage[]>;
  /** Sets an event aside that a recorder waits for. False when there is none. */
  skip(id: string): Promise<boolean>;
  /** Those that are set aside, the oldest first. */
  list(limit: number): Promise<readonly RejectedUsage[]>;
  find(id: string): Promise<RejectedUsage | undefined>;
  /** Removes an event and answers it. Of several that take the same one, one gets it. */
  take(id: string): Promise<RejectedUsage | undefined>;
  /** How many are set aside. */
  count(): Promise<number>;
}
