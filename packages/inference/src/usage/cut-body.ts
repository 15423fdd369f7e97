/** How much of a body is kept. */
export const KEPT_BODY_BYTES_MAX = 64 * 1024;

/** The beginning of a body, with a mark where it is cut. */
export function cutBody(text: string, size = Buffer.byteLength(text)): string {
  if (size <= KEPT_BODY_BYTES_MAX) return text;
  const begin = Buffer.from(text).subarray(0, KEPT_BODY_BYTES_MAX).toString();
  return `${begin.replace(/\uFFFD$/, '')}… [cut: ${size} bytes]`;
}
