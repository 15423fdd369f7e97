/** The types of parts that are no text, of all APIs. */
const MEDIA_PARTS: ReadonlySet<unknown> = new Set([
  'image',
  'image_url',
  'input_image',
  'audio',
  'input_audio',
  'video_url',
  'file',
  'input_file',
  'document',
]);
/** Parts can have parts, such as the result of a tool. */
const DEPTH_MAX = 4;

/** Whether there are images, audio or files among these messages or parts. */
export function hasMedia(parts: unknown, depth = 0): boolean {
  if (!Array.isArray(parts) || depth > DEPTH_MAX) return false;
  return parts.some((part: unknown) => {
    if (typeof part !== 'object' || part === null) return false;
    if (MEDIA_PARTS.has(Reflect.get(part, 'type'))) return true;
    const images: unknown = Reflect.get(part, 'images');
    if (Array.isArray(images) && images.length > 0) return true;
    return hasMedia(Reflect.get(part, 'content'), depth + 1);
  });
}
