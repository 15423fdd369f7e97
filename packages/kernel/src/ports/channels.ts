/** Publish and subscribe between processes: what notifications, health and registry changes travel on. */
export interface Channels {
  /** Answers how many subscribers the message reached, as far as the store can tell. */
  publish(channel: string, message: string): Promise<number>;
  /**
   * Resolves when the subscription is live: what is published after that is delivered, in order. Subscriptions to one
   * channel share one subscription in the store, which ends with the last of them.
   */
  subscribe(channel: string, onMessage: (message: string) => void): Promise<Subscription>;
}

/** Something that listens until it is closed. Closing twice is harmless. */
export interface Subscription {
  close(): Promise<void>;
}
