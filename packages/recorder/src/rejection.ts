import {
  UsageRejectedError,
  type RejectedUsageStore,
  type UsageStore,
} from '@model-gateway/billing';
import { usageEventSchema, type UsageEvent } from '@model-gateway/contracts';
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

/** The usage event of a journal entry, or why it is none. */
export function readUsageEvent(body: string): UsageEvent | UsageRejectedError {
  try {
    const content: unknown = JSON.parse(body);
    return isPlainEvent(content) ? content : usageEventSchema.parse(content);
  } catch (error) {
    return new UsageRejectedError(`not a usage event: ${describeError(error)}`, { cause: error });
  }
}

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
      const event = readUsageEvent(body);
      if (event instanceof UsageRejectedError) throw event;
      const { added } = await usage.record([event], { pointsPerUsd });
      return { state: added > 0 ? 'metered' : 'metered before' };
    });
  } catch (error) {
    if (!(error instanceof UsageRejectedError) || body === undefined) throw error;
    await stores.rejectedUsage.add({ id, event: body, error: error.message });
    return { state: 'rejected', error: error.message };
  }
}
