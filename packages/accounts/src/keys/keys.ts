import { ServiceError } from '@model-gateway/contracts';
import { newId, sha256Hex, type Clock } from '@model-gateway/kernel';
import type { AccountEvents } from '../changes/account-events.ts';
import type { ApiKey, KeyStore } from './key-store.ts';
import type { Memberships } from './memberships.ts';

/** API keys: shown once when they are created, then stored as hashes. */
export interface Keys {
  /** With a group, of which the user must be an active member, the key draws on the group. */
  create(request: {
    readonly userId: string;
    readonly name: string;
    readonly project?: string | undefined;
    readonly groupId?: string | undefined;
  }): Promise<{ readonly key: ApiKey; readonly secret: string }>;
  /** Newest first, up to a limit. */
  list(userId: string): Promise<readonly ApiKey[]>;
  /** Revokes a key; repeating it changes nothing. */
  revoke(userId: string, keyId: string): Promise<void>;
}

interface KeysDependencies {
  readonly keys: KeyStore;
  readonly memberships: Memberships;
  readonly events: AccountEvents;
  readonly clock: Clock;
  /** How many active keys a user may have. */
  readonly activePerUserMax: number;
}

const KEY_FORM = /^service-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const KEY_PREFIX_CHARS = 8;
const PROJECT_DEFAULT = 'default';
const LISTED_MAX = 1_000;

export function createKeys(dependencies: KeysDependencies): Keys {
  const { keys, memberships, events, clock, activePerUserMax } = dependencies;
  return {
    async create({ userId, name, project = PROJECT_DEFAULT, groupId }) {
      if (groupId !== undefined && !(await memberships.isActiveMember(groupId, userId))) {
        throw new ServiceError('not_found', 'group not found');
      }
      const secret = `service-${newId()}`;
      const key = await keys.create(
        {
          id: newId(),
          userId,
          groupId: groupId ?? null,
          name,
          keyHash: sha256Hex(secret),
          keyPrefix: secret.slice(0, KEY_PREFIX_CHARS),
          keyHint: maskKey(secret),
          project,
        },
        activePerUserMax,
      );
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

/** Whether a bearer token has the form of an API key; others are not looked up. */
export const isKeyForm = (bearer: string): boolean => KEY_FORM.test(bearer);

/** The masked form of a key, to recognize it: `service-3f2a…c91d`. */
function maskKey(secret: string): string {
  return `${secret.slice(0, 'service-'.length + 4)}…${secret.slice(-4)}`;
}
