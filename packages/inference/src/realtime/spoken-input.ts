import { numberOf } from '@model-gateway/kernel';
import type { RealtimeEvent } from '@model-gateway/router';
import { property } from '../stream/chunk-fields.ts';

/** Estimates the tokens of what a user says in a realtime session. */
export interface SpokenInput {
  /** Takes every event that was sent to the upstream. Returns the tokens that it adds to the conversation. */
  sent(event: RealtimeEvent): number;
  /** The same for every event of the upstream. */
  observe(event: RealtimeEvent): number;
  /** Whether audio was counted: then its transcript does not count as well. */
  readonly isCounted: boolean;
}

const TOKENS_PER_MS = 10 / 1_000;
const SAMPLE_BYTES = 2;
/** Of PCM16 towards the model, if the session names no other rate. */
const SAMPLE_RATE = 16_000;
/** A session cannot shorten its audio by a rate that no microphone has. */
const SAMPLE_RATES = { min: 8_000, max: 48_000 };
/** G.711, in either of its forms. */
const TELEPHONE = /g711|pcm[ua]$/;
const TELEPHONE_BYTES_PER_MS = 8;

export function createSpokenInput(): SpokenInput {
  let bytesPerMs = pcmBytesPerMs(SAMPLE_RATE);
  /** Positions in the audio of the session, in milliseconds: what was sent, and up to where it is counted or dropped. */
  let sentMs = 0;
  let countedMs = 0;
  /** What the upstream recognized as speech; the silence around it is not read by the model. */
  let speechFromMs: number | undefined;
  let speechToMs: number | undefined;
  let isCounted = false;

  /** What was said since the last time becomes a part of the conversation. */
  function commit(): number {
    const from = Math.max(countedMs, speechFromMs ?? 0);
    const to = Math.min(sentMs, speechToMs ?? sentMs);
    countedMs = Math.max(countedMs, to);
    speechFromMs = undefined;
    speechToMs = undefined;
    const tokens = Math.ceil(Math.max(0, to - from) * TOKENS_PER_MS);
    isCounted ||= tokens > 0;
    return tokens;
  }

  return {
    sent(event) {
      switch (event['type']) {
        case 'session.update':
          bytesPerMs = formatOf(event['session']) ?? bytesPerMs;
          return 0;
        case 'input_audio_buffer.append':
          sentMs += bytesOf(event['audio']) / bytesPerMs;
          return 0;
        case 'input_audio_buffer.clear':
          countedMs = sentMs;
          return 0;
        case 'input_audio_buffer.commit':
          return commit();
        default:
          return 0;
      }
    },
    observe(event) {
      switch (event['type']) {
        case 'input_audio_buffer.speech_started':
          speechFromMs = numberAt(event, 'audio_start_ms');
          return 0;
        case 'input_audio_buffer.speech_stopped':
          speechToMs = numberAt(event, 'audio_end_ms');
          return 0;
        case 'input_audio_buffer.committed':
          return commit();
        default:
          return 0;
      }
    },
    get isCounted() {
      return isCounted;
    },
  };
}

/** The bytes of a millisecond, by either generation of the settings of a session. */
function formatOf(session: unknown): number | undefined {
  const format =
    property(session, 'input_audio_format') ??
    property(property(property(session, 'audio'), 'input'), 'format');
  const name = typeof format === 'string' ? format : property(format, 'type');
  if (typeof name !== 'string') return undefined;
  if (TELEPHONE.test(name)) return TELEPHONE_BYTES_PER_MS;
  return pcmBytesPerMs(numberAt(format, 'rate') ?? SAMPLE_RATE);
}

function pcmBytesPerMs(rate: number): number {
  const bounded = Math.min(Math.max(rate, SAMPLE_RATES.min), SAMPLE_RATES.max);
  return (bounded * SAMPLE_BYTES) / 1_000;
}

const bytesOf = (audio: unknown): number =>
  typeof audio === 'string' ? Buffer.byteLength(audio, 'base64') : 0;

function numberAt(value: unknown, name: string): number | undefined {
  const number = numberOf(property(value, name));
  return number !== undefined && number >= 0 ? number : undefined;
}
