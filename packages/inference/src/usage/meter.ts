import {
  billedMedia,
  costAt,
  type BilledUsage,
  type PriceBook,
  type PricedBackend,
} from '@model-gateway/billing';
import type { TokenUsage, UsageEvent } from '@model-gateway/contracts';
import { newTimedId, type Clock, type Metrics } from '@model-gateway/kernel';
import type { Router } from '@model-gateway/router';
import type { Caller } from '../chat/caller.ts';
import type { Reservation } from '../quota/reservation.ts';
import type { FailedCall, RequestLogWriter } from './request-log-writer.ts';
import { attemptsOf, type RequestTrace } from './request-trace.ts';
import { createUsageCounts } from './usage-counts.ts';
import type { UsageWriter } from './usage-writer.ts';

/** A served request, before it is priced. */
export interface ServedRequest extends Omit<BilledUsage, 'prompt_tokens' | 'completion_tokens'> {
  readonly caller: Caller;
  readonly model: string;
  /** Which surface served it: `gateway`, `rpc`, `realtime` or `video`. */
  readonly surface: string;
  readonly usage: TokenUsage;
  readonly refId: string | null;
  /** Ends with the record. */
  readonly reservation?: Reservation | undefined;
  /** The backend that served it; undefined for a stored answer, which has no tokens and costs nothing. */
  readonly upstream: PricedBackend | undefined;
  /** How it ended, as an HTTP status. */
  readonly status: number;
  /** When it began and when the first chunk arrived, by `performance.now()`. */
  readonly startedAt?: number | undefined;
  readonly firstTokenAt?: number | undefined;
  readonly trace?: RequestTrace | undefined;
}

/** Records served requests. A failure to write never fails a request that was served. */
export interface Meter {
  /** Resolves when the event would survive a crash of this process, or waits in its memory to be written. */
  record(served: ServedRequest): Promise<void>;
  /** What an upstream may charge for a prompt that the gateway does not bill; counts its tokens in the limits of the backend. */
  unbilled(model: string, upstream: PricedBackend, promptTokens: number): UnbilledPrompt;
  /** Notes a request of which nothing was metered. The request does not wait for it. */
  failed(call: FailedCall): void;
}

/** A part of a request that only the operator pays for. */
export interface UnbilledPrompt {
  readonly prompt_tokens: number;
  /** USD; null without a price. */
  readonly cost: number | null;
}

interface MeterDependencies {
  readonly writer: Pick<UsageWriter, 'write'>;
  readonly prices: Pick<PriceBook, 'priceOf'>;
  /** Counts the tokens of backends that limit them. */
  readonly limits: Router['limits'];
  readonly requestLog: Pick<RequestLogWriter, 'failed'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

const STORED_ANSWER = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cost: 0,
  cached: true,
};
const MODEL_CHARS_MAX = 128;
const UPSTREAM_CHARS_MAX = 255;

export function createMeter(dependencies: MeterDependencies): Meter {
  const { writer, prices, limits, requestLog, clock, metrics } = dependencies;
  const count = createUsageCounts(metrics);

  function write(event: UsageEvent, reservation: Reservation | undefined): Promise<void> {
    // Before the event, so that on one connection the reservation has ended when the event is written.
    reservation?.end({ tokens: event.total_tokens, costUsd: event.cost });
    const written = writer.write(event);
    count(event);
    return written;
  }

  /** What is billed of an answer of an upstream. */
  function billed(served: ServedRequest, upstream: PricedBackend) {
    const { model, usage, cachedTokens, cacheWriteTokens, mediaTokens, images, audioSeconds } =
      served;
    const { prompt_tokens, completion_tokens } = usage;
    const price = prices.priceOf(model, upstream);
    const units = {
      prompt_tokens,
      completion_tokens,
      cachedTokens,
      cacheWriteTokens,
      mediaTokens,
      images,
      audioSeconds,
    };
    return {
      prompt_tokens,
      completion_tokens,
      // The sum, whatever the upstream reports as its total.
      total_tokens: prompt_tokens + completion_tokens,
      cost: price === undefined ? null : costAt(price, units),
      upstream: upstream.name.slice(0, UPSTREAM_CHARS_MAX),
      // What an upstream reports is not more than the prompt.
      cached_tokens: cachedTokens === undefined ? null : Math.min(cachedTokens, prompt_tokens),
      cache_write_tokens:
        cacheWriteTokens &&
        Math.min(cacheWriteTokens, Math.max(prompt_tokens - (cachedTokens ?? 0), 0)),
      media_tokens: billedMedia(units),
      images,
      audio_seconds: audioSeconds,
      price: price?.record,
    };
  }

  return {
    failed: (call) => requestLog.failed(call),
    unbilled(model, upstream, promptTokens) {
      const price = prices.priceOf(model, upstream);
      const usage = { prompt_tokens: promptTokens, completion_tokens: 0 };
      limits.addTokens(upstream.name, promptTokens);
      return { prompt_tokens: promptTokens, cost: price ? costAt(price, usage) : null };
    },
    record(served) {
      const { caller, model, surface, refId, reservation, startedAt, firstTokenAt, trace } = served;
      const { upstream, status } = served;
      const event: UsageEvent = {
        id: idOf(trace),
        user_id: caller.userId,
        key_id: caller.keyId,
        api_key_id: caller.apiKeyId,
        project: caller.project,
        group_id: caller.groupId,
        multiplier: caller.multiplier,
        model: model.slice(0, MODEL_CHARS_MAX),
        backend: surface,
        ...(upstream === undefined ? STORED_ANSWER : billed(served, upstream)),
        ref_id: refId,
        call_id: reservation?.isHolding === true ? reservation.id : undefined,
        latency_ms: startedAt === undefined ? null : elapsedMs(startedAt, performance.now()),
        first_token_ms:
          startedAt === undefined || firstTokenAt === undefined
            ? null
            : elapsedMs(startedAt, firstTokenAt),
        status,
        request_id: trace?.clientId,
        attempts: trace && attemptsOf(trace),
        created_at: new Date(clock.now()).toISOString(),
      };
      if (upstream !== undefined) {
        limits.addTokens(upstream.name, event.total_tokens);
        if (trace !== undefined) trace.served = { model, status };
      }
      return write(event, reservation);
    },
  };
}

const elapsedMs = (from: number, to: number): number => Math.max(0, Math.round(to - from));

/** The id of a request is that of its row. A second row of the same request has an id of its own. */
function idOf(trace: RequestTrace | undefined): string {
  if (trace === undefined || trace.isRecorded) return newTimedId();
  trace.isRecorded = true;
  return trace.id;
}
