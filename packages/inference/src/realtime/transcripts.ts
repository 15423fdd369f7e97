import type { RealtimeEvent } from '@model-gateway/router';
import { LRUCache } from 'lru-cache';
import { property } from '../stream/chunk-fields.ts';

/** Collects what the model says in a realtime session. */
export interface Transcripts {
  /** Takes the deltas and the texts of parts; ignores other events. */
  add(event: RealtimeEvent): void;
  /** The text of the response that `response.done` ends; undefined when there is none. */
  takeEnded(event: RealtimeEvent): string | undefined;
  /** The texts of all other responses, oldest first. */
  takeAll(): readonly string[];
}

interface Part {
  readonly pieces: string[];
  whole: string | undefined;
}

interface Response {
  readonly parts: Map<string, Part>;
  chars: number;
}

// Names of both generations: response.audio_transcript.delta, response.output_audio_transcript.delta, response.text.done, …
const SAID = /^response\.(?:output_)?(?:audio_transcript|text)\.(delta|done)$/;
const RESPONSES_MAX = 16;
const RESPONSE_CHARS_MAX = 1_000_000;

export function createTranscripts(): Transcripts {
  // Responses come one after another; the text of one that never ends must not be kept forever.
  const responses = new LRUCache<string, Response>({ max: RESPONSES_MAX });

  function responseOf(id: string): Response {
    const known = responses.peek(id);
    if (known !== undefined) return known;
    const response = { parts: new Map<string, Part>(), chars: 0 };
    responses.set(id, response);
    return response;
  }

  function take(id: string): string | undefined {
    const response = responses.get(id);
    responses.delete(id);
    return response === undefined ? undefined : textOf(response);
  }

  return {
    add(event) {
      const step = SAID.exec(textAt(event, 'type') ?? '')?.[1];
      if (step === undefined) return;
      const said =
        step === 'delta'
          ? textAt(event, 'delta')
          : (textAt(event, 'transcript') ?? textAt(event, 'text'));
      if (said === undefined) return;
      const response = responseOf(textAt(event, 'response_id') ?? '');
      const key = JSON.stringify([event['item_id'], event['content_index']]);
      const part = response.parts.get(key) ?? { pieces: [], whole: undefined };
      if (response.chars + said.length > RESPONSE_CHARS_MAX) return;
      response.chars += said.length;
      response.parts.set(key, part);
      if (step === 'delta') part.pieces.push(said);
      else part.whole = said;
    },
    takeEnded(event) {
      const response: unknown = event['response'];
      const id = textAt(response, 'id') ?? '';
      // Some upstreams omit the id in deltas.
      return take(responses.has(id) ? id : '');
    },
    takeAll: () => [...responses.rkeys()].flatMap((id) => take(id) ?? []),
  };
}

/** The parts in the order in which they began. */
function textOf({ parts }: Response): string | undefined {
  const texts = [...parts.values()].map(({ whole, pieces }) => whole ?? pieces.join(''));
  const said = texts.filter((text) => text.trim() !== '').join('\n');
  return said === '' ? undefined : said;
}

function textAt(value: unknown, name: string): string | undefined {
  const text = property(value, name);
  return typeof text === 'string' ? text : undefined;
}
