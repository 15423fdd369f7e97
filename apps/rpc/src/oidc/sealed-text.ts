import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { tryParse, type Clock } from '@model-gateway/kernel';
import { z } from 'zod';

/**
 * Keeps the state of a sign-in in a cookie of its browser, so that every replica can continue it and no other browser can. The
 * browser can neither read nor change it.
 */
export interface SealedText<State> {
  seal(state: State): string;
  /** Undefined for a text that is expired, changed or not ours. */
  open(sealed: string): State | undefined;
}

interface SealedTextOptions<State> {
  /** The same in every process of an installation. */
  readonly secret: string;
  /** A text that was sealed for another purpose does not open. */
  readonly purpose: string;
  readonly schema: z.ZodType<State>;
  readonly ttlSecs: number;
  readonly clock: Clock;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createSealedText<State>(options: SealedTextOptions<State>): SealedText<State> {
  const { secret, purpose, ttlSecs, clock } = options;
  const key = Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
  const schema = z.object({ state: options.schema, expiresAt: z.number() });
  return {
    seal(state) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      const text = JSON.stringify({ state, expiresAt: clock.now() + ttlSecs * 1000 });
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url');
    },
    open(sealed) {
      const text = decrypt(Buffer.from(sealed, 'base64url'), key);
      const opened = text === undefined ? undefined : tryParse(schema, text);
      return opened === undefined || opened.expiresAt < clock.now() ? undefined : opened.state;
    },
  };
}

function decrypt(bytes: Buffer, key: Buffer): string | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(tag);
  try {
    const ciphertext = bytes.subarray(NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
