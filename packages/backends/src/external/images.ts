interface ImageObject {
  readonly data?: unknown;
  readonly data_base64?: unknown;
  readonly media_type?: unknown;
  readonly mime_type?: unknown;
  readonly image_url?: { readonly url?: unknown } | null;
}

const TYPE_DEFAULT = 'image/png';

/** Renders the `images` extension of a message as content parts of the convention. */
export function withImageParts(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('images' in message)) return message;
  const { images, ...rest } = message;
  if (!Array.isArray(images) || images.length === 0) return rest;
  const content: unknown = 'content' in rest ? rest.content : undefined;
  const parts = images.flatMap((image: unknown) => {
    const url = imageUrl(image);
    return url === undefined ? [] : [{ type: 'image_url', image_url: { url } }];
  });
  return { ...rest, content: [...textParts(content), ...parts] };
}

function textParts(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}

/** A data URL of an image in any of the accepted forms: base64, a data URL, an object with the data and its type, or an `image_url`. */
function imageUrl(image: unknown): string | undefined {
  if (typeof image === 'string') {
    return image.startsWith('data:') ? image : `data:${TYPE_DEFAULT};base64,${image}`;
  }
  if (typeof image !== 'object' || image === null) return undefined;
  const { data, data_base64, media_type, mime_type, image_url }: ImageObject = image;
  if (typeof image_url?.url === 'string') return image_url.url;
  const base64 = data ?? data_base64;
  if (typeof base64 !== 'string') return undefined;
  const type = media_type ?? mime_type;
  return `data:${typeof type === 'string' ? type : TYPE_DEFAULT};base64,${base64}`;
}
