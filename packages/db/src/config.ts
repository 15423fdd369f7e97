import {
  flag,
  loadConfig,
  optional,
  setting,
  urlWith,
  withDefault,
  type ConfigOf,
} from '@model-gateway/kernel';
import { z } from 'zod';
import { decodeEncryptionKey, ENCRYPTION_KEY_BYTES } from './connection/secret-box.ts';

const databaseUrl = urlWith('postgres', 'postgresql');
const databaseUrlNotes = { description: 'The PostgreSQL 15+ database.', secret: true } as const;

/** For apps that cannot run without a database of their own. */
export const databaseUrlSetting = setting('DATABASE_URL', databaseUrl, {
  ...databaseUrlNotes,
  defaultText: 'required',
});

/** For apps that start an embedded database when none is configured. */
export const optionalDatabaseUrlSetting = setting('DATABASE_URL', optional(databaseUrl), {
  ...databaseUrlNotes,
  defaultText: 'embedded',
});

/** A standby that reads of usage can use. */
export const readUrlSetting = setting('DATABASE_READ_URL', optional(databaseUrl), {
  description:
    'A hot standby of the database. Usage, spend and the request log are read from it while it answers.',
  defaultText: 'unset',
  secret: true,
});

/** Whether the app migrates the database when it starts. */
export const migrateSetting = setting('SERVICE_MIGRATE', withDefault(flag(), true), {
  description:
    'Migrate the database at start, under a lock; 0 leaves it to `pnpm gateway db:migrate`.',
  defaultText: '1',
});

/** The key under which upstream keys are stored. */
export const encryptionKeySetting = setting('SERVICE_ENCRYPTION_KEY', optional(encryptionKey()), {
  description: `${ENCRYPTION_KEY_BYTES} bytes in base64, the same for every process: upstream \`api_key\` values are stored encrypted with it.`,
  defaultText: 'required in production, else generated into the data directory',
  secret: true,
  requiredInProduction: true,
});

/** The settings that most server apps need. */
export const databaseSettings = {
  databaseUrl: databaseUrlSetting,
  databaseReadUrl: readUrlSetting,
  migrate: migrateSetting,
  encryptionKey: encryptionKeySetting,
};

/** The configuration of the process that only migrates. */
export function loadMigrateConfig(): ConfigOf<{ databaseUrl: typeof databaseUrlSetting }> {
  return loadConfig({ databaseUrl: databaseUrlSetting }, process.env);
}

function encryptionKey(): z.ZodType<string, string> {
  return z
    .string()
    .refine(
      (value) => decodeEncryptionKey(value) !== undefined,
      `${ENCRYPTION_KEY_BYTES} bytes in base64`,
    );
}
