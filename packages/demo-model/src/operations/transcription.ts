import { countTokens, tokensOf } from '../answering/tokens.ts';
import { isUploadedFile } from '../wire/body.ts';
import { asText } from '../wire/json.ts';
import { sse } from '../wire/sse.ts';
import { jsonReply, STREAM, type Chunk, type Operation, type OperationReply } from './operation.ts';
import { wavSeconds } from './wav.ts';

interface Transcript {
  readonly text: string;
  /** Undefined for a file that is not WAV. */
  readonly seconds: number | undefined;
}

/** What clients expect of each segment, besides its text and its times. */
const SEGMENT = {
  id: 0,
  seek: 0,
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 1,
  no_speech_prob: 0,
};

/** Describes the file instead of what is said in it. */
export const transcribe: Operation = ({ body, withUsage }) => {
  const { file } = body;
  if (!isUploadedFile(file)) return "Missing required parameter: 'file'.";
  const seconds = wavSeconds(file.head, file.bytes);
  const length = seconds === undefined ? '' : ` and ${seconds.toFixed(1)} seconds of audio`;
  const text = `This is the built-in demo model. It received a file with ${file.bytes} bytes${length}.`;
  const transcript = { text, seconds };
  const usage = withUsage ? { usage: usageOf(transcript) } : {};
  if (body.stream === 'true')
    return {
      contentType: STREAM,
      promptTokens: 0,
      chunks: chunksOf(text, usage),
    };
  return formatted(transcript, asText(body.response_format) ?? 'json', usage);
};

function formatted(transcript: Transcript, format: string, usage: object): OperationReply | string {
  const { text, seconds = 0 } = transcript;
  const completionTokens = countTokens(text);
  const plain = (content: string): OperationReply => ({
    contentType: 'text/plain; charset=utf-8',
    content: Buffer.from(content),
    promptTokens: 0,
    completionTokens,
  });
  switch (format) {
    case 'json':
      return jsonReply({ text, ...usage }, 0, completionTokens);
    case 'verbose_json': {
      const segments = [{ ...SEGMENT, start: 0, end: seconds, text, tokens: [] }];
      const details = { task: 'transcribe', language: 'english', duration: seconds };
      return jsonReply({ ...details, text, segments, ...usage }, 0, completionTokens);
    }
    case 'text':
      return plain(`${text}\n`);
    case 'srt':
      return plain(`1\n${timeOf(0, ',')} --> ${timeOf(seconds, ',')}\n${text}\n\n`);
    case 'vtt':
      return plain(`WEBVTT\n\n${timeOf(0, '.')} --> ${timeOf(seconds, '.')}\n${text}\n\n`);
    default:
      return `Invalid 'response_format': ${format}.`;
  }
}

/** Audio is billed by its length where that is known. */
function usageOf({ text, seconds }: Transcript) {
  if (seconds !== undefined) return { type: 'duration', seconds: Math.ceil(seconds) };
  const tokens = countTokens(text);
  return { type: 'tokens', input_tokens: 0, output_tokens: tokens, total_tokens: tokens };
}

function* chunksOf(text: string, usage: object): Generator<Chunk> {
  for (const delta of tokensOf(text))
    yield { text: sse({ type: 'transcript.text.delta', delta }), tokens: 1 };
  yield { text: sse({ type: 'transcript.text.done', text, ...usage }), tokens: 0 };
}

function timeOf(seconds: number, separator: string): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23).replace('.', separator);
}
