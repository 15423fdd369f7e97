import type { ImagePart } from '@model-gateway/contracts';
import { dataUrl } from '../turn/data-url.ts';
import { fieldOf, listField, textField } from '../turn/fields.ts';

const NONE: readonly ImagePart[] = [];

/** The images that a model generated, in `images` of a chat message or delta. */
export function imagePartsOf(message: unknown): readonly ImagePart[] {
  const images = listField(message, 'images');
  // This runs for each token.
  if (images.length === 0) return NONE;
  return images.flatMap((image) => {
    const url = textField(fieldOf(image, 'image_url'), 'url');
    const source = url === undefined ? undefined : (dataUrl(url) ?? { type: 'url' as const, url });
    return source === undefined ? [] : [{ type: 'image' as const, source }];
  });
}

/** The same images as a field of a chat message or delta; `first` is the index of the first one in the message. */
export function imageFields(
  images: readonly ImagePart[],
  first = 0,
): Readonly<Record<string, unknown>> {
  if (images.length === 0) return {};
  return {
    images: images.map(({ source }, at) => ({
      index: first + at,
      type: 'image_url',
      image_url: {
        url: source.type === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`,
      },
    })),
  };
}
