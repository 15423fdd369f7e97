import type { WebhookEvent, WebhookFormat } from './webhook-store.ts';

/** What is sent: an event of the service, or a test of one webhook. */
export type EventType = WebhookEvent | 'webhook.test';

/** Something that happened. */
export interface NewEvent {
  /** Chosen by the store where it is missing. */
  readonly id?: string | undefined;
  /** Names what happened: the same thing is stored once, however often and by however many processes it is reported. */
  readonly key: string;
  readonly type: EventType;
  /** Null for events that belong to no group. */
  readonly groupId: string | null;
  /** The user who gets a mail about it. */
  readonly userId?: string | undefined;
  /** Only this webhook receives it. */
  readonly webhookId?: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event as it is sent. */
export interface StoredEvent {
  readonly id: string;
  readonly type: EventType;
  readonly at: Date;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Stores what happened. In a transaction it is stored with the change, or not at all. */
export interface EventOutbox {
  /** False when it was stored before. */
  add(event: NewEvent): Promise<boolean>;
  /** Stores the event with the state of its subject, if that is another state than the last one. True when it was. */
  addChange(
    subject: string,
    state: string,
    event: (before: string | undefined) => NewEvent | undefined,
  ): Promise<boolean>;
  /** Makes the deliveries of stored events, each once. False when none were waiting. */
  publish(options: PublishOptions): Promise<boolean>;
  /**
   * Removes deliveries that ended before the first moment, and events that were stored before the second, a limited number of
   * each. False when none were left.
   */
  removeOld(deliveriesBefore: Date, eventsBefore: Date): Promise<boolean>;
}

export interface PublishOptions {
  readonly now: Date;
  /** How many deliveries may wait for one webhook; the others are stored as failed. */
  readonly pendingMax: number;
  /** Whether users get mails. */
  readonly withMail: boolean;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** A delivery as it is listed. */
export interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly nextAttemptAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

export interface DeliveryFilter {
  readonly webhookId: string;
  readonly status?: DeliveryStatus | undefined;
  /** Only those before this one. */
  readonly before?: string | undefined;
  readonly countMax: number;
}

/** Where a delivery goes. */
export type Receiver =
  | {
      readonly kind: 'webhook';
      readonly webhookId: string;
      readonly groupId: string | null;
      readonly url: string;
      readonly format: WebhookFormat;
      /** Undefined when it cannot be decrypted. */
      readonly secret: string | undefined;
    }
  | { readonly kind: 'mail'; readonly email: string; readonly name: string };

/** A delivery that one worker is about to attempt. */
export interface ClaimedDelivery {
  readonly id: string;
  /** With this one. */
  readonly attempts: number;
  readonly event: StoredEvent;
  readonly receiver: Receiver;
}

/** How an attempt ended. */
export interface AttemptEnd {
  readonly status: DeliveryStatus;
  readonly at: Date;
  /** When it is attempted again, if it is pending. */
  readonly nextAttemptAt: Date;
  readonly responseStatus: number | null;
  readonly error: string | null;
}

export interface DeliveryStore {
  list(
    filter: DeliveryFilter,
  ): Promise<{ readonly deliveries: readonly Delivery[]; readonly hasMore: boolean }>;
  /** How many tests of a webhook wait. */
  pendingTests(webhookId: string): Promise<number>;
  /** The ids of those that are due, at most `perReceiverMax` of one webhook: the others wait until these are done. */
  due(now: Date, perReceiverMax: number): Promise<readonly string[]>;
  /** What is limited while it is sent, and when it is due; undefined when it has ended. */
  peek(id: string): Promise<
    | {
        readonly webhookId: string | null;
        readonly groupId: string | null;
        readonly nextAttemptAt: Date;
      }
    | undefined
  >;
  /** Takes a due delivery: no other worker can until `leaseUntil`. Undefined when it is not due, or another one has it. */
  claim(id: string, now: Date, leaseUntil: Date): Promise<ClaimedDelivery | undefined>;
  /** Stores how an attempt ended, unless another worker has attempted it since. */
  end(id: string, attempts: number, end: AttemptEnd): Promise<void>;
}
