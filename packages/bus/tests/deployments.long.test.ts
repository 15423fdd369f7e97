import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ACCOUNT_EPOCH_KEY } from '@model-gateway/accounts';
import { createRedisAdmission } from '../src/redis/redis-admission.ts';
import { createRedisByteCache } from '../src/redis/redis-byte-cache.ts';
import { createRedisChannels } from '../src/redis/redis-channels.ts';
import { createRedisCircuits } from '../src/redis/redis-circuits.ts';
import { createRedisCounters } from '../src/redis/redis-counters.ts';
import { createRedisEntries } from '../src/redis/redis-entries.ts';
import { createRedisJournal } from '../src/redis/redis-journal.ts';
import { createRedisLimits } from '../src/redis/redis-limits.ts';
import { createRedisLocks } from '../src/redis/redis-locks.ts';
import { keyPrefix } from '../src/redis/redis-access.ts';
import { createRedisConnection, type RedisConnection } from '../src/redis/redis-connection.ts';
import { silentLog, type Log } from '@model-gateway/kernel';
import { ageAdmissions, leftOverCalls } from './age-admissions.ts';
import { ageLimits } from './age-limits.ts';
import { describeAdmission } from './contract/admission-contract.ts';
import { describeByteCache } from './contract/byte-cache-contract.ts';
import { describeChannels } from './contract/channels-contract.ts';
import { describeCircuits } from './contract/circuits-contract.ts';
import { describeCounters } from './contract/counters-contract.ts';
import { describeEntries } from './contract/entries-contract.ts';
import { describeJournal } from './contract/journal-contract.ts';
import { describeLimits } from './contract/limits-contract.ts';
import { describeLocks } from './contract/locks-contract.ts';
import type { Subject } from './contract/subject.ts';
import {
  createClusterRedis,
  createOtherServer,
  createSecuredRedis,
  createSentinelRedis,
  openPrimary,
  type Deployment,
} from './servers/deployments.ts';
import { newPrefix } from './subjects.ts';

const START_TIMEOUT_MS = 300_000;

interface AdapterOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
  readonly log: Log;
}

/** Everything that the service keeps on Redis, on one deployment. */
function describeDeployment(name: string, create: (prefix: string) => Promise<Deployment>): void {
  describe(name, () => {
    const prefixOfAll = newPrefix();
    let deployment: Deployment;

    beforeAll(async () => {
      deployment = await create(`{${prefixOfAll.replace(/:$/, '')}}:`);
    }, START_TIMEOUT_MS);

    afterAll(() => deployment.remove());

    /** Each test has keys of its own, on a Cluster in the slot of all. */
    let count = 0;
    async function subject<Port>(make: (options: AdapterOptions) => Port): Promise<Subject<Port>> {
      const { url, access } = deployment;
      const prefix = `${keyPrefix(prefixOfAll, access)}${(count += 1)}:`;
      const connection = createRedisConnection({
        target: { ...access, url, prefix },
        log: silentLog,
      });
      const port = make({ connection, prefix, log: silentLog });
      await connection.start();
      return { port, close: () => connection.close() };
    }

    describeChannels(name, () => subject(createRedisChannels));
    describeLocks(name, () => subject(createRedisLocks));
    describeCounters(name, () => subject(createRedisCounters));
    describeEntries(name, () => subject(createRedisEntries));
    describeByteCache(name, () => subject(createRedisByteCache));
    describeCircuits(name, () => subject(createRedisCircuits));
    describeLimits(name, () =>
      subject(({ connection, prefix }) => ({
        limits: createRedisLimits({ connection, prefix }),
        age: async (milliseconds: number) =>
          ageLimits(prefix, milliseconds, await openPrimary(deployment)),
      })),
    );
    describeAdmission(name, () =>
      subject(({ connection, prefix }) => ({
        admission: createRedisAdmission({ connection, prefix, epochCounter: ACCOUNT_EPOCH_KEY }),
        counters: createRedisCounters({ connection, prefix }),
        passTime: async (milliseconds: number) =>
          ageAdmissions(prefix, milliseconds, await openPrimary(deployment)),
        leftOver: async () => leftOverCalls(prefix, await openPrimary(deployment)),
      })),
    );
    describeJournal(name, () => subject(createRedisJournal));
  });
}

describeDeployment('TLS with an authority of its own and an ACL user', createSecuredRedis);
describeDeployment('Sentinel', createSentinelRedis);
describeDeployment('Cluster', createClusterRedis);
const valkey = 'valkey-server';
if (isInstalled(valkey)) describeDeployment('Valkey', () => createOtherServer(valkey));

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
