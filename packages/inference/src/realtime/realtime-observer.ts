import { readMediaTokens, type MediaTokens, type TokenUsage } from '@model-gateway/contracts';
import type { RealtimeEvent } from '@model-gateway/router';
import { LRUCache } from 'lru-cache';
import type { ExpectedUsage } from '../quota/reservation.ts';
import { property } from '../stream/chunk-fields.ts';
import { createResponseEstimates } from './response-estimates.ts';
import { realtimeCachedTokens, realtimeUsage } from './realtime-usage.ts';
import type { CallEnding } from '../usage/served-status.ts';
import { createTranscripts } from './transcripts.ts';

/** The record of a response that ended. */
export interface EndedResponse {
  /** Undefined when it is not recorded. */
  readonly usage: TokenUsage | undefined;
  /** The part of the prompt that the upstream read from its cache, if it reported that. */
  readonly cachedTokens?: number | undefined;
  /** Which of the tokens are no text, if it reported some. */
  readonly mediaTokens?: MediaTokens | undefined;
  readonly ending: CallEnding;
  /** The text of the model; undefined when there is none. */
  readonly transcript: string | undefined;
}

/** Observes the events of a session. Supports both generations of the OpenAI event names. */
export interface RealtimeObserver {
  /** Takes an event that was sent to the upstream. */
  sent(event: RealtimeEvent): void;
  /** Whether a response begins with this event of the upstream, which `observe` has not taken yet. */
  isBeginning(event: RealtimeEvent): boolean;
  /** What the response that begins next is expected to use. */
  expected(): ExpectedUsage;
  /** Takes an event of the upstream. Returns the response that ended with it, if any. A response ends once, by its id. */
  observe(event: RealtimeEvent): EndedResponse | undefined;
  /** The texts and the estimated usage of the unfinished responses, each of them once; `isLost` if the upstream broke off. */
  takeUnfinished(end: { readonly isLost: boolean }): readonly EndedResponse[];
}

interface RealtimeObserverOptions {
  /** A tagged session records every response, also one that took no tokens. */
  readonly refId: string | null;
}

// Endings by the client or by a limit. A failure is the fault of the upstream.
const BROKEN_OFF: readonly unknown[] = ['cancelled', 'incomplete'];
/** Of a session; a repetition comes soon after the first. */
const KNOWN_RESPONSES_MAX = 1_000;

export function createRealtimeObserver({ refId }: RealtimeObserverOptions): RealtimeObserver {
  const transcripts = createTranscripts();
  const estimates = createResponseEstimates();
  // Some upstreams send an event twice. Each response is reserved and metered once.
  const begun = createKnownIds();
  const ended = createKnownIds();

  const recorded = (usage: TokenUsage): TokenUsage | undefined =>
    usage.total_tokens > 0 || refId !== null ? usage : undefined;

  /** The reported usage; of a response that was broken off without a report, the estimate. */
  function usageOfEnded(event: RealtimeEvent): TokenUsage {
    const response = event['response'];
    const usage = realtimeUsage(event);
    const isReported = (property(response, 'usage') ?? null) !== null;
    const estimate = estimates.takeEnded(event, isReported ? usage : undefined);
    return !isReported && BROKEN_OFF.includes(property(response, 'status')) ? estimate : usage;
  }

  return {
    sent: (event) => estimates.sent(event),
    isBeginning: (event) =>
      event['type'] === 'response.created' && !begun.has(event) && !ended.has(event),
    expected: () => estimates.expected(),
    observe(event) {
      if (event['type'] === 'response.created') begun.add(event);
      if (event['type'] !== 'response.done') {
        transcripts.add(event);
        estimates.observe(event);
        return undefined;
      }
      if (ended.has(event)) return undefined;
      ended.add(event);
      return {
        usage: recorded(usageOfEnded(event)),
        cachedTokens: realtimeCachedTokens(event),
        mediaTokens: readMediaTokens(property(event['response'], 'usage')),
        ending: endingOf(event),
        transcript: transcripts.takeEnded(event),
      };
    },
    takeUnfinished({ isLost }) {
      const ending: CallEnding = isLost ? 'interrupted' : 'left';
      return [
        ...transcripts.takeAll().map((transcript) => ({ usage: undefined, ending, transcript })),
        ...estimates
          .takeAll()
          .map((estimate) => ({ usage: recorded(estimate), ending, transcript: undefined })),
      ];
    },
  };
}

/** The ids of the newest responses; one without an id is never known. */
function createKnownIds() {
  const ids = new LRUCache<string, true>({ max: KNOWN_RESPONSES_MAX });
  const idOf = (event: RealtimeEvent): unknown => property(event['response'], 'id');
  return {
    has(event: RealtimeEvent): boolean {
      const id = idOf(event);
      return typeof id === 'string' && ids.has(id);
    },
    add(event: RealtimeEvent): void {
      const id = idOf(event);
      if (typeof id === 'string') ids.set(id, true);
    },
  };
}

function endingOf(event: RealtimeEvent): CallEnding {
  const status = property(event['response'], 'status');
  if (status === 'failed') return 'interrupted';
  return status === 'cancelled' ? 'left' : 'complete';
}
