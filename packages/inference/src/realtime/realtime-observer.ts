import type { TokenUsage } from '@model-gateway/contracts';
import type { RealtimeEvent } from '@model-gateway/router';
import { responseUsage } from './response-usage.ts';
import { createTranscripts } from './transcripts.ts';

/** What has to be written down about a response that ended. */
export interface EndedResponse {
  /** Undefined when it is not to be recorded. */
  readonly usage: TokenUsage | undefined;
  /** What the model said or wrote; undefined when that was nothing. */
  readonly transcript: string | undefined;
}

/** Looks at the events of an upstream on their way to the client. Both generations of the OpenAI names are understood. */
export interface RealtimeObserver {
  /** Answers something when a response ended with this event. */
  observe(event: RealtimeEvent): EndedResponse | undefined;
  /** What the responses that have not ended said so far, each of them once. */
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
