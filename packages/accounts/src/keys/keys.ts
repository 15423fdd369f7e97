import { ServiceError } from '@model-gateway/contracts';
import { newId, sha256Hex, type Clock } from '@model-gateway/kernel';
import type { AccountEvents } from '../changes/account-events.ts';
import { changedSettings, NO_KEY_SETTINGS, type KeySettingChanges } from './key-settings.ts';
import type { ApiKey, KeyPage, KeyStore } from './key-store.ts';

/** API keys: shown once when they are created, then stored as hashes. */
export interface Keys {
  /** With a group, of which the user must be an active member, the key draws on the group. */
  create(request: {
    readonly userId: string;
    readonly name: string;
    readonly project?: string | undefined;
    readonly groupId?: string | undefined;
    readonly settings?: KeySettingChanges | undefined;
  }): Promise<{ readonly key: ApiKey; readonly secret: string }>;
  /** Newest first, up to a limit: beyond it, revoked keys are left out before others. With a page, a page of all. */
  list(userId: string, page?: KeyPage): Promise<readonly ApiKey[]>;
  /** Changes the name and the settings that are given. */
  update(
    userId: string,
    keyId: string,
    changes: { readonly name?: string | undefined; readonly settings: KeySettingChanges },
  ): Promise<ApiKey>;
  /** A new secret for a key. The one before works for the grace; a secret that was replaced earlier stops working. */
  rotate(
    userId: string,
    keyId: string,
    graceSecs: number,
  ): Promise<{ readonly key: ApiKey; readonly secret: string }>;
  /** Revokes a key; repeating it changes nothing. */
  revoke(userId: string, keyId: string): Promise<void>;
}

interface KeysDependencies {
  readonly keys: KeyStore;
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
  const { keys, events, clock, activePerUserMax } = dependencies;
  const listedMax = Math.max(LISTED_MAX, activePerUserMax);
  return {
    async create({ userId, name, project = PROJECT_DEFAULT, groupId, settings = {} }) {
      const set = changedSettings(NO_KEY_SETTINGS, settings, clock.now());
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
          settings: set,
        },
        activePerUserMax,
      );
      await events.changed({ kind: 'key', keyId: key.id });
      return { key, secret };
    },
    list: (userId, page) => {
      const now = new Date(clock.now());
      return page === undefined
        ? keys.list(userId, listedMax, now)
        : keys.listPage(userId, page, now);
    },
    async update(userId, keyId, { name, settings }) {
      const at = new Date(clock.now());
      const key = await keys.update(
        userId,
        keyId,
        (current) => changedSettings(current, settings, at.getTime()),
        { name, at },
      );
      if (key === undefined) throw unknownKey();
      await events.changed({ kind: 'key', keyId });
      return key;
    },
    async rotate(userId, keyId, graceSecs) {
      const now = clock.now();
      const secret = `service-${newId()}`;
      const previousUntil = graceSecs === 0 ? null : new Date(now + graceSecs * 1000);
      const rotated = { keyHash: sha256Hex(secret), keyHint: maskKey(secret), previousUntil };
      const key = await keys.rotate(userId, keyId, rotated, new Date(now));
      if (key === undefined) throw unknownKey();
      await events.changed({ kind: 'key', keyId });
      return { key, secret };
    },
    async revoke(userId, keyId) {
      if (!(await keys.revoke(userId, keyId, new Date(clock.now())))) {
        throw unknownKey();
      }
      await events.changed({ kind: 'key', keyId });
    },
  };
}

/** Whether a bearer token has the form of an API key; others are not looked up. */
export const isKeyForm = (bearer: string): boolean => KEY_FORM.test(bearer);

const unknownKey = (): ServiceError => new ServiceError('not_found', 'key not found');

/** The masked form of a key, to recognize it: `service-3f2a…c91d`. */
function maskKey(secret: string): string {
  return `${secret.slice(0, 'service-'.length + 4)}…${secret.slice(-4)}`;
}
