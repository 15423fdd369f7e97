import {
  UsageRejectedError,
  type RejectedUsageStore,
  type UsageStore,
} from '@model-gateway/billing';
import {
  failedRequestsSchema,
  usageEventSchema,
  type FailedRequest,
  type UsageEvent,
} from '@model-gateway/contracts';
import { describeError } from '@model-gateway/kernel';
import { isPlainEvent } from './plain-event.ts';

/** The stores that rejected usage moves between, each call of its own or all in one transaction. */
export interface RejectedUsageStores {
  readonly rejectedUsage: RejectedUsageStore;
  transaction<Result>(
    work: (stores: {
      readonly usage: Pick<UsageStore, 'record'>;
      readonly rejectedUsage: Pick<RejectedUsageStore, 'take'>;
    }) => Promise<Result>,
  ): Promise<Result>;
}

/** What a journal entry holds: one served request, or several that were not served. */
export type EntryContent =
  | { readonly event: UsageEvent; readonly failures?: undefined }
  | { readonly event?: undefined; readonly failures: readonly FailedRequest[] };

/** The content of a journal entry, or why it is not understood. */
export function readEntry(body: string): EntryContent | UsageRejectedError {
  try {
    const content: unknown = JSON.parse(body);
    if (isPlainEvent(content)) return { event: content };
    if (isOfFailures(content)) return { failures: failedRequestsSchema.parse(content).failures };
    return { event: usageEventSchema.parse(content) };
  } catch (error) {
    return new UsageRejectedError(`not a usage event: ${describeError(error)}`, { cause: error });
  }
}

/** No usage event has a kind. */
const isOfFailures = (content: unknown): boolean =>
  typeof content === 'object' && content !== null && 'kind' in content;

/** What became of a rejected event that was tried again. */
export type RetryOutcome =
  | { readonly state: 'metered' | 'metered before' | 'unknown' }
  | { readonly state: 'rejected'; readonly error: string };

/**
 * Meters a rejected event and removes it, in one transaction: a process that dies in between has changed nothing, and of two
 * that run at the same time one finds no event.
 */
export async function retryRejected(
  stores: RejectedUsageStores,
  id: string,
  pointsPerUsd: number,
): Promise<RetryOutcome> {
  let body: string | undefined;
  try {
    return await stores.transaction(async ({ usage, rejectedUsage }) => {
      body = (await rejectedUsage.take(id))?.event;
      if (body === undefined) return { state: 'unknown' };
      const content = readEntry(body);
      if (content instanceof UsageRejectedError) throw content;
      const { event, failures = [] } = content;
      const events = event === undefined ? [] : [event];
      const { added } = await usage.record(events, { pointsPerUsd, failures });
      return { state: added === events.length ? 'metered' : 'metered before' };
    });
  } catch (error) {
    if (!(error instanceof UsageRejectedError) || body === undefined) throw error;
    await stores.rejectedUsage.add({ id, event: body, error: error.message });
    return { state: 'rejected', error: error.message };
  }
}
