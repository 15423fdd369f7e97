import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** How many bytes an encryption key has. */
export const ENCRYPTION_KEY_BYTES = 32;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** Encrypts the secrets that have to be read again, such as the keys of upstreams. */
export interface SecretBox {
  /** The place is where the secret is stored, such as a row name: sealed for one place, it does not open in another. */
  seal(secret: string, place: string): string;
  /** Throws when the text was sealed with another key, for another place, or was changed. */
  open(sealed: string, place: string): string;
}

/** A box with a key of 32 bytes in base64. Sealed texts look like `v1.<base64url of nonce, tag and ciphertext>`. */
export function createSecretBox(encryptionKey: string): SecretBox {
  const key = decodeEncryptionKey(encryptionKey);
  if (key === undefined)
    throw new Error(`an encryption key is ${ENCRYPTION_KEY_BYTES} bytes in base64`);

  return {
    seal(secret, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
        Buffer.from(place),
      );
      const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      const payload = Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
      return `${VERSION}.${payload.toString('base64url')}`;
    },
    open(sealed, place) {
      const [version, payload = ''] = sealed.split('.');
      if (version !== VERSION) throw new Error('the sealed text has an unknown version');
      const bytes = Buffer.from(payload, 'base64url');
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(place))
        .setAuthTag(tag);
      const ciphertext = bytes.subarray(NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8');
    },
  };
}

/** The bytes of an encryption key, or undefined when the text is not one. */
export function decodeEncryptionKey(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === ENCRYPTION_KEY_BYTES ? bytes : undefined;
}
