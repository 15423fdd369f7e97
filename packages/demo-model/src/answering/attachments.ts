import { asObject, asText, type JsonObject } from '../wire/json.ts';
import { describeImage } from './image-size.ts';

/** A part of a message that is not text. */
export interface Attachment {
  readonly kind: 'image' | 'audio' | 'file' | 'video' | 'other';
  /** What is known about it, such as `PNG, 640×480 pixels`. */
  readonly details: string;
}

const IMAGE_TOKENS = 85;
const KINDS: Readonly<Record<string, Attachment['kind']>> = {
  image_url: 'image',
  input_image: 'image',
  image: 'image',
  input_audio: 'audio',
  file: 'file',
  input_file: 'file',
  video_url: 'video',
};
const TEXT_PARTS: readonly unknown[] = ['text', 'input_text', 'output_text', 'refusal', undefined];
/** More are counted, but not looked at. */
const DESCRIBED_MAX = 20;

/** The tokens of an attachment. */
export const ATTACHMENT_TOKENS = IMAGE_TOKENS;

/** The attachments of a message: content parts, and base64 images beside the content. */
export function readAttachments(
  parts: readonly JsonObject[],
  images: readonly unknown[],
): readonly Attachment[] {
  const found = parts.filter(({ type }) => !TEXT_PARTS.includes(type)).map(readPart);
  return [
    ...found,
    ...images.map((image, index) => ({
      kind: 'image' as const,
      details: index < DESCRIBED_MAX ? describeImage(asText(image) ?? '') : '',
    })),
  ];
}

function readPart(part: JsonObject, index: number): Attachment {
  const type = asText(part.type) ?? '';
  const kind = Object.hasOwn(KINDS, type) ? (KINDS[type] ?? 'other') : 'other';
  switch (kind) {
    case 'image': {
      const source = asText(part.image_url) ?? asText(asObject(part.image_url).url) ?? '';
      return { kind, details: index < DESCRIBED_MAX ? describeImage(source) : '' };
    }
    case 'audio':
      return { kind, details: asText(asObject(part.input_audio).format) ?? '' };
    case 'file':
      return { kind, details: asText(asObject(part.file).filename) ?? '' };
    case 'video':
      return { kind, details: '' };
    default:
      return { kind, details: type.slice(0, 40) };
  }
}

const NAMES = {
  image: ['an image', 'images'],
  audio: ['an audio recording', 'audio recordings'],
  file: ['a file', 'files'],
  video: ['a video', 'videos'],
  other: ['a part of an unknown type', 'parts of unknown types'],
} as const satisfies Record<Attachment['kind'], readonly [string, string]>;

/** A sentence about attachments; empty without any. */
export function describeAttachments(attachments: readonly Attachment[]): string {
  const kinds = [...new Set(attachments.map(({ kind }) => kind))];
  const phrases = kinds.map((kind) => {
    const same = attachments.filter((attachment) => attachment.kind === kind);
    const details = same
      .map((attachment) => attachment.details)
      .filter((text) => text !== '')
      .slice(0, DESCRIBED_MAX);
    const [one, several] = NAMES[kind];
    const subject = same.length === 1 ? one : `${same.length} ${several}`;
    return details.length === 0 ? subject : `${subject} (${details.join('; ')})`;
  });
  return phrases.length === 0 ? '' : `You also sent ${phrases.join(' and ')}.`;
}
