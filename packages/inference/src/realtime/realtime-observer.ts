import type { TokenUsage } from '@model-gateway/contracts';
import type { RealtimeEvent } from '@model-gateway/router';
import { responseUsage } from './response-usage.ts';
import { createTranscripts } from './transcripts.ts';

/** The record of a response that ended. */
export interface EndedResponse {
  /** Undefined when it is not recorded. */
  readonly usage: TokenUsage | undefined;
  /** The text of the model; undefined when there is none. */
  readonly transcript: string | undefined;
}

/** Observes the events from an upstream. Supports both generations of the OpenAI event names. */
export interface RealtimeObserver {
  /** Returns the response that ended with this event, if any. */
  observe(event: RealtimeEvent): EndedResponse | undefined;
  /** The texts of the unfinished responses, each of them once. */
  takeUnfinished(): readonly string[];
}

interface RealtimeObserverOptions {
  /** A tagged session records every response, also one that took no tokens. */
  readonly refId: string | null;
}

export function createRealtimeObserver({ refId }: RealtimeObserverOptions): RealtimeObserver {
  const transcripts = createTranscripts();
  return {
    observe(event) {
      if (event['type'] !== 'response.done') {
        transcripts.add(event);
        return undefined;
      }
      const usage = responseUsage(event);
      return {
        usage: usage.total_tokens > 0 || refId !== null ? usage : undefined,
        transcript: transcripts.takeEnded(event),
      };
    },
    takeUnfinished: () => transcripts.takeAll(),
  };
}
