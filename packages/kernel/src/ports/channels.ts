/** Publish and subscribe between processes, for notifications, health and registry changes. */
export interface Channels {
  /** Returns how many subscribers the message reached, as far as the store knows. */
  publish(channel: string, message: string): Promise<number>;
  /**
   * Resolves when the subscription is live: messages published after that are delivered, in order. Subscriptions to one
   * channel share one subscription in the store, which ends with the last of them.
   */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<Subscription>;
}

/** An active subscription. Closing twice is harmless. */
export interface Subscription {
  close(): Promise<void>;
}
