import { ServiceError } from '@model-gateway/contracts';
import { newId, sha256Hex, type Clock } from '@model-gateway/kernel';
import type { AccountEvents } from '../changes/account-events.ts';
import type { ApiKey, KeyStore } from './key-store.ts';
import type { Memberships } from './memberships.ts';

/** API keys: made once, shown once, known by their hash ever after. */
export interface Keys {
  /** With a group, which one has to be an active member of, the key draws on the group. */
  create(request: {
    readonly userId: string;
    readonly name: string;
    readonly project?: string | undefined;
    readonly groupId?: string | undefined;
  }): Promise<{ readonly key: ApiKey; readonly secret: string }>;
  /** Newest first; of very many keys the newest. */
  list(userId: string): Promise<readonly ApiKey[]>;
  /** Stops a key for good; doing so again changes nothing. */
  revoke(userId: string, keyId: string): Promise<void>;
}

interface KeysDependencies {
  readonly keys: KeyStore;
  readonly memberships: Memberships;
  readonly events: AccountEvents;
  readonly clock: Clock;
}

const KEY_FORM = /^service-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const KEY_PREFIX_CHARS = 8;
const PROJECT_DEFAULT = 'default';
const LISTED_MAX = 1_000;

export function createKeys({ keys, memberships, events, clock }: KeysDependencies): Keys {
  return {
    async create({ userId, name, project = PROJECT_DEFAULT, groupId }) {
      if (groupId !== undefined && !(await memberships.isActiveMember(groupId, userId))) {
        throw new ServiceError('not_found', 'group not found');
      }
      const secret = `service-${newId()}`;
      const key = await keys.create({
        id: newId(),
        userId,
        groupId: groupId ?? null,
        name,
        keyHash: sha256Hex(secret),
        keyPrefix: secret.slice(0, KEY_PREFIX_CHARS),
        keyHint: maskKey(secret),
        project,
      });
      await events.changed({ kind: 'key', keyId: key.id });
      return { key, secret };
    },
    list: (userId) => keys.list(userId, LISTED_MAX),
    async revoke(userId, keyId) {
      if (!(await keys.revoke(userId, keyId, new Date(clock.now())))) {
        throw new ServiceError('not_found', 'key not found');
      }
      await events.changed({ kind: 'key', keyId });
    },
  };
}

/** Whether a bearer can be an API key at all; what cannot need not be looked up. */
export const isKeyForm = (bearer: string): boolean => KEY_FORM.test(bearer);

/** The form of a key that its owner can recognise and nobody can use: `service-3f2a…c91d`. */
function maskKey(secret: string): string {
  return `${secret.slice(0, 'service-'.length + 4)}…${secret.slice(-4)}`;
}
