import { ServiceError } from '@model-gateway/contracts';
import { describeError, type Log } from '@model-gateway/kernel';
import {
  appliedLimits,
  fingerprintOf,
  type BackendConfig,
  type BackendConfigStore,
  type StoredBackendConfig,
} from '@model-gateway/router';
import { z } from 'zod';
import type { Connection } from '../connection/connection.ts';
import { Prisma, type BackendConfig as Row } from '../generated/client.ts';
import type { SecretBox } from '../connection/secret-box.ts';
import { storableJson } from '../connection/storable-text.ts';

const capabilitiesSchema = z.array(z.string()).nullable().catch(null);
const jsonObject = z.record(z.string(), z.json());
const limit = z.number().optional().catch(undefined);
const limitsSchema = z
  .object({ rpm: limit, tpm: limit, concurrency: limit, tokensPerDay: limit })
  .nullable()
  .catch(null);
const workflowSchema = z.record(z.string(), z.unknown()).optional().catch(undefined);

interface BackendConfigOptions {
  readonly connection: Connection;
  /** Without it upstream keys can be neither stored nor read. */
  readonly secretBox: SecretBox | undefined;
  readonly log: Log;
}

/** Backend registrations in Postgres, with the upstream keys encrypted. */
export function createPostgresBackendConfigs(options: BackendConfigOptions): BackendConfigStore {
  const { connection, secretBox, log } = options;

  function seal(apiKey: string | null, name: string): string | null {
    if (apiKey === null) return null;
    if (secretBox !== undefined) return secretBox.seal(apiKey, name);
    throw new ServiceError(
      'store_unavailable',
      'upstream keys cannot be stored, because SERVICE_ENCRYPTION_KEY is not set',
    );
  }

  function open(sealed: string | null, name: string): string | null {
    if (sealed === null) return null;
    try {
      if (secretBox === undefined) throw new Error('SERVICE_ENCRYPTION_KEY is not set');
      return secretBox.open(sealed, name);
    } catch (error) {
      // One unreadable key must not disable the other backends.
      log.error(
        { backend: name, reason: describeError(error) },
        'the upstream key of a backend cannot be read',
      );
      return null;
    }
  }

  /** The keys of several that can be read. */
  function openAll(sealed: readonly string[], name: string): readonly string[] | undefined {
    const keys = sealed.flatMap((key) => open(key, name) ?? []);
    return keys.length === 0 ? undefined : keys;
  }

  function configOf({ name, apiKey, apiKeys, authHeader, ...row }: Row): StoredBackendConfig {
    const { type, url, models, createdAt } = row;
    return {
      name,
      type,
      url,
      apiKey: open(apiKey, name),
      apiKeys: openAll(apiKeys, name),
      authHeader: authHeader ?? undefined,
      models,
      capabilities: capabilitiesSchema.parse(row.capabilities),
      dialects: row.dialects.length === 0 ? undefined : row.dialects,
      limits: appliedLimits(limitsSchema.parse(row.limits)),
      workflow: workflowSchema.parse(row.workflow),
      createdAt,
    };
  }

  function valuesOf({
    name,
    type,
    url,
    apiKey,
    apiKeys = [],
    authHeader,
    ...config
  }: BackendConfig) {
    const { models, capabilities, dialects = [], limits, workflow } = config;
    return {
      type,
      url,
      apiKey: seal(apiKey, name),
      apiKeys: apiKeys.flatMap((key) => seal(key, name) ?? []),
      authHeader: authHeader ?? null,
      models: [...models],
      capabilities: capabilities === null ? Prisma.DbNull : [...capabilities],
      dialects: [...dialects],
      limits: limits === undefined ? Prisma.DbNull : { ...limits },
      workflow:
        workflow === undefined
          ? Prisma.DbNull
          : jsonObject.parse(JSON.parse(storableJson(workflow))),
      // An operator's registration replaces the one of a node.
      agentId: null,
    };
  }

  return {
    list: () =>
      connection.run(async (queries) => {
        const rows = await queries.backendConfig.findMany({ orderBy: { position: 'asc' } });
        return rows.map(configOf);
      }),

    save: (config) =>
      connection.run(async (queries) => {
        const { name } = config;
        const values = valuesOf(config);
        await queries.backendConfig.upsert({
          where: { name },
          create: { name, ...values },
          update: values,
          select: { name: true },
        });
      }),

    replace: (current, next) =>
      connection.transaction(async (queries) => {
        const { name } = next;
        // Another replacement waits here until this one is done, and then finds another registration.
        await queries.$executeRaw`SELECT 1 FROM backend_configs WHERE name = ${name} FOR UPDATE`;
        const row = await queries.backendConfig.findUnique({ where: { name } });
        if (row === null || fingerprintOf(configOf(row)) !== fingerprintOf(current)) return false;
        const select = { name: true };
        await queries.backendConfig.update({ where: { name }, data: valuesOf(next), select });
        return true;
      }),

    remove: (name) =>
      connection.run(async (queries) => {
        await queries.backendConfig.deleteMany({ where: { name } });
      }),
  };
}
