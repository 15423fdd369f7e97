import { estimateTokens } from '@model-gateway/billing';
import { WrittenNumber } from '@model-gateway/kernel';

/** How many bytes of a file in base64 count as a token, up to a maximum: most bytes of a document are no text. */
const FILE_BYTES_PER_TOKEN = 16;
const FILE_TOKENS_MAX = 16_384;
/** Audio has about 10 tokens a second of 16,000 bytes. */
const AUDIO_BYTES_PER_TOKEN = 1_600;
const AUDIO_PARTS: readonly unknown[] = ['input_audio', 'audio_url', 'audio'];
/** These count as the text of a part. */
const TEXT_FIELDS: readonly string[] = ['type', 'text', 'refusal', 'thinking'];
const DATA_URL = /^data:[^,]{0,256};base64,/;
const BASE64 = /^[\w+/=-]+$/;
/** A shorter text is not taken for a file; of a longer one, this many characters are checked. */
const BASE64_CHARS_MIN = 256;
const DEPTH_MAX = 8;

/** The tokens of a part of a message that is neither text nor an image: a file, audio, or anything else. */
export function tokensOfPart(part: object): number {
  const isAudio = AUDIO_PARTS.includes(Reflect.get(part, 'type'));
  let tokens = 0;
  for (const [name, value] of Object.entries(part))
    if (!TEXT_FIELDS.includes(name)) tokens += tokensOfValue(value, isAudio);
  return tokens;
}

/** The tokens of any value: its texts and names, and files in base64 by their size. */
export function tokensOfValue(value: unknown, isAudio = false, depth = 0): number {
  if (typeof value === 'string') return tokensOfText(value, isAudio);
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return 0;
  if (depth === DEPTH_MAX) return estimateTokens(JSON.stringify(value));
  let tokens = 0;
  if (Array.isArray(value)) {
    for (const one of value) tokens += tokensOfValue(one, isAudio, depth + 1);
    return tokens;
  }
  for (const [name, field] of Object.entries(value))
    tokens += estimateTokens(name) + tokensOfValue(field, isAudio, depth + 1);
  return tokens;
}

function tokensOfText(text: string, isAudio: boolean): number {
  if (!isFile(text)) return estimateTokens(text);
  const bytes = (text.length * 3) / 4;
  return isAudio
    ? Math.ceil(bytes / AUDIO_BYTES_PER_TOKEN)
    : Math.min(Math.ceil(bytes / FILE_BYTES_PER_TOKEN), FILE_TOKENS_MAX);
}

const isFile = (text: string): boolean =>
  text.length >= BASE64_CHARS_MIN &&
  (DATA_URL.test(text.slice(0, 2 * BASE64_CHARS_MIN)) ||
    BASE64.test(text.slice(0, BASE64_CHARS_MIN)));
