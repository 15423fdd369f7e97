import { quote } from '../answering/demo-text.ts';
import { countTokens } from '../answering/tokens.ts';
import { asText } from '../wire/json.ts';
import { jsonReply, type Operation } from './operation.ts';
import { pngOf } from './png.ts';

const SIZE = 256;
const SIZE_MAX = 2_048;
const IMAGES_MAX = 10;
const IMAGE_TOKENS = 272;

/** Small patterns in PNG, the same ones for the same prompt; a requested link is a `data:` URL. */
export const generateImages: Operation = ({ model, body, withUsage }) => {
  const prompt = asText(body.prompt);
  if (prompt === undefined || prompt === '') return "Missing required parameter: 'prompt'.";
  const size = readSize(body.size);
  if (size === undefined)
    return `Invalid 'size': must be like 256x256, at most ${SIZE_MAX}x${SIZE_MAX}.`;
  const count = body.n ?? 1;
  if (!Number.isInteger(count) || Number(count) < 1 || Number(count) > IMAGES_MAX)
    return `Invalid 'n': must be a whole number from 1 to ${IMAGES_MAX}.`;
  const images = Array.from({ length: Number(count) }, (_, index) =>
    pngOf(`${index} ${prompt}`, ...size).toString('base64'),
  );
  const inputTokens = countTokens(prompt);
  const outputTokens = images.length * IMAGE_TOKENS;
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { text_tokens: inputTokens, image_tokens: 0 },
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  return jsonReply(
    {
      created: Math.floor(Date.now() / 1000),
      data: images.map((image) => ({
        ...(body.response_format === 'url'
          ? { url: `data:image/png;base64,${image}` }
          : { b64_json: image }),
        revised_prompt: `A pattern by ${model} for: ${quote(prompt)}`,
      })),
      output_format: 'png',
      size: size.join('x'),
      ...(withUsage ? { usage } : {}),
    },
    inputTokens,
    outputTokens,
  );
};

/** Undefined if it is not valid. */
function readSize(value: unknown): readonly [number, number] | undefined {
  if (value === undefined || value === null || value === 'auto') return [SIZE, SIZE];
  const [, width, height] = /^(\d{1,4})x(\d{1,4})$/.exec(asText(value) ?? '') ?? [];
  const [w, h] = [Number(width), Number(height)];
  return w >= 1 && w <= SIZE_MAX && h >= 1 && h <= SIZE_MAX ? [w, h] : undefined;
}
