/** What is stored elsewhere and becomes an event. */
export interface EventSources {
  /** Stores an event for each threshold of a budget that was not published yet. False when there was none. */
  addBudgetThresholds(): Promise<boolean>;
  /** Stores an event for each key that expires within one of these numbers of days, once for each number. */
  addExpiringKeys(now: Date, days: readonly number[]): Promise<void>;
  /** Every GPU node. */
  nodes(): Promise<readonly WatchedNode[]>;
}

export interface WatchedNode {
  readonly id: string;
  readonly name: string;
  readonly isConnected: boolean;
  readonly lastHeartbeatAt: Date | null;
}
