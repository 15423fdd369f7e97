import { newId, sha256Hex } from '@model-gateway/kernel';
import type { ApiKey, KeyHolder, KeyStore } from './key-store.ts';

/** API keys: made once, shown once, known by their hash ever after. */
export interface Keys {
  create(request: {
    readonly userId: string;
    readonly name: string;
    readonly project?: string | undefined;
  }): Promise<{ readonly key: ApiKey; readonly secret: string }>;
  /** Whom the secret speaks for, or undefined when it is nobody's. */
  authenticate(secret: string): Promise<KeyHolder | undefined>;
}

const KEY_FORM = /^service-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const KEY_PREFIX_CHARS = 8;
const PROJECT_DEFAULT = 'default';

export function createKeys(store: KeyStore): Keys {
  return {
    async create({ userId, name, project = PROJECT_DEFAULT }) {
      const secret = `service-${newId()}`;
      const key = await store.create({
        id: newId(),
        userId,
        groupId: null,
        name,
        keyHash: sha256Hex(secret),
        keyPrefix: secret.slice(0, KEY_PREFIX_CHARS),
        keyHint: maskKey(secret),
        project,
      });
      return { key, secret };
    },
    async authenticate(secret) {
      return KEY_FORM.test(secret) ? store.findHolder(sha256Hex(secret)) : undefined;
    },
  };
}

/** The form of a key that its owner can recognise and nobody can use: `service-3f2a…c91d`. */
function maskKey(secret: string): string {
  return `${secret.slice(0, 'service-'.length + 4)}…${secret.slice(-4)}`;
}
