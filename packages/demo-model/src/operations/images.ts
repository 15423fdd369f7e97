import { quote } from '../answering/demo-text.ts';
import { countTokens } from '../answering/tokens.ts';
import { asText } from '../wire/json.ts';
import { sse } from '../wire/sse.ts';
import { jsonReply, STREAM, type Chunk, type Operation } from './operation.ts';
import { pngOf } from './png.ts';

const SIZE = 256;
const SIZE_MAX = 2_048;
const IMAGES_MAX = 10;
const IMAGE_TOKENS = 272;
const PARTIALS_MAX = 3;

/**
 * Small patterns in PNG, the same ones for the same prompt; a requested link is a `data:` URL. A stream has other patterns as the
 * earlier states of an image.
 */
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
  const usage = withUsage && {
    input_tokens: inputTokens,
    input_tokens_details: { text_tokens: inputTokens, image_tokens: 0 },
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  if (body.stream === true) {
    const partials = body.partial_images ?? 0;
    if (!Number.isInteger(partials) || Number(partials) < 0 || Number(partials) > PARTIALS_MAX)
      return `Invalid 'partial_images': must be a whole number from 0 to ${PARTIALS_MAX}.`;
    return {
      contentType: STREAM,
      promptTokens: inputTokens,
      chunks: imageEvents(images, { size, partials: Number(partials), usage }),
    };
  }
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
      ...(usage && { usage }),
    },
    inputTokens,
    outputTokens,
  );
};

interface StreamedImages {
  readonly size: readonly [number, number];
  /** How many earlier states of each image are sent. */
  readonly partials: number;
  /** Of all images; false if it is not sent. */
  readonly usage: object | false;
}

/** The events of each image: its earlier states, and the finished image. */
function* imageEvents(
  images: readonly string[],
  { size, partials, usage }: StreamedImages,
): Generator<Chunk> {
  const common = {
    created_at: Math.floor(Date.now() / 1000),
    size: size.join('x'),
    quality: 'low',
    background: 'opaque',
    output_format: 'png',
  };
  for (const [index, image] of images.entries()) {
    for (let partial = 0; partial < partials; partial += 1)
      yield eventOf('image_generation.partial_image', 0, {
        b64_json: pngOf(`${index} ${partial}`, ...size).toString('base64'),
        partial_image_index: partial,
        ...common,
      });
    const isLast = index === images.length - 1;
    yield eventOf('image_generation.completed', IMAGE_TOKENS, {
      b64_json: image,
      ...common,
      ...(isLast && usage ? { usage } : {}),
    });
  }
}

const eventOf = (type: string, tokens: number, fields: object): Chunk => ({
  text: `event: ${type}\n${sse({ type, ...fields })}`,
  tokens,
});

/** Undefined if it is not valid. */
function readSize(value: unknown): readonly [number, number] | undefined {
  if (value === undefined || value === null || value === 'auto') return [SIZE, SIZE];
  const [, width, height] = /^(\d{1,4})x(\d{1,4})$/.exec(asText(value) ?? '') ?? [];
  const [w, h] = [Number(width), Number(height)];
  return w >= 1 && w <= SIZE_MAX && h >= 1 && h <= SIZE_MAX ? [w, h] : undefined;
}
