import { createHash, hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';

/** A new random UUID. */
export const newId = (): string => randomUUID();

/**
 * A new UUID of version 7, which begins with the time: rows with such ids lie in their index in the order in which they were made.
 * Whoever sees one knows when that was.
 */
export function newTimedId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${newId().slice(15)}`;
}

/** A URL-safe random text; 16 bytes are 128 bits. */
export const randomToken = (bytes = 16): string => randomBytes(bytes).toString('base64url');

/** SHA-256 as lower-case hex; secrets of high entropy are stored and looked up in this form. */
export const sha256Hex = (text: string): string => hash('sha256', text, 'hex');

/** Compares two secrets in a time that does not depend on where they differ, nor on their lengths. */
export function constantTimeEqual(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
