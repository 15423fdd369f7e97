import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { tryParse, type Clock } from '@model-gateway/kernel';
import { z } from 'zod';

/** A sign-in that a browser has begun and the provider has not answered yet. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Where the browser goes afterwards. */
  readonly returnTo: string;
}

/** Keeps a pending sign-in in a cookie of its browser, so that every replica can finish it and no other browser can. */
export interface PendingSignIns {
  seal(pending: PendingSignIn): string;
  /** Undefined for a text that is expired, changed or not ours. */
  open(sealed: string): PendingSignIn | undefined;
}

interface PendingSignInsOptions {
  /** The same in every process of an installation. */
  readonly secret: string;
  readonly clock: Clock;
}

/** How long a user may take to sign in at the provider. */
export const PENDING_SECS_MAX = 600;

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const sealedSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
  expiresAt: z.number(),
});

export function createPendingSignIns({ secret, clock }: PendingSignInsOptions): PendingSignIns {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'pending OIDC sign-ins', KEY_BYTES));
  return {
    seal(pending) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      const expiresAt = clock.now() + PENDING_SECS_MAX * 1000;
      const text = JSON.stringify({ ...pending, expiresAt });
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url');
    },
    open(sealed) {
      const text = decrypt(Buffer.from(sealed, 'base64url'), key);
      const pending = text === undefined ? undefined : tryParse(sealedSchema, text);
      if (pending === undefined || pending.expiresAt < clock.now()) return undefined;
      const { expiresAt: _expiresAt, ...rest } = pending;
      return rest;
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
