import type { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from '@model-gateway/contracts';

export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** A receiver of events. */
export interface Webhook {
  readonly id: string;
  /** Null for the webhooks of the platform. */
  readonly groupId: string | null;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly format: WebhookFormat;
  readonly createdAt: Date;
}

export interface NewWebhook extends Webhook {
  readonly secret: string;
  readonly createdById: string | null;
}

/** Whose webhooks a listing contains. */
export interface WebhookFilter {
  /** Only those of this group. */
  readonly groupId?: string | undefined;
  /** Only those of groups that this user administers. */
  readonly administratorId?: string | undefined;
  /** Only those after this one. */
  readonly after?: string | undefined;
  readonly countMax: number;
}

export interface WebhookStore {
  /** `gone` when its group does not exist; `too many` when the group, or the platform, has that many. */
  create(webhook: NewWebhook, countMax: number): Promise<'created' | 'too many' | 'gone'>;
  /**
   * Stores it, or replaces the one with this id, or else the oldest of the same owner and address, with its deliveries; others
   * of that address are removed. With `keepsSecret` what it replaces keeps its secret. False when its group does not exist.
   */
  save(webhook: NewWebhook, options: { readonly keepsSecret: boolean }): Promise<boolean>;
  find(id: string): Promise<Webhook | undefined>;
  /** The oldest first. */
  list(
    filter: WebhookFilter,
  ): Promise<{ readonly webhooks: readonly Webhook[]; readonly hasMore: boolean }>;
  /** Removes it with its deliveries. */
  remove(id: string): Promise<boolean>;
}
