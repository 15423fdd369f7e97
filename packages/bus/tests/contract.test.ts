import { ACCOUNT_EPOCH_KEY } from '@model-gateway/accounts';
import { createRedisAdmission } from '../src/redis/redis-admission.ts';
import { createRedisByteCache } from '../src/redis/redis-byte-cache.ts';
import { createRedisChannels } from '../src/redis/redis-channels.ts';
import { createRedisCircuits } from '../src/redis/redis-circuits.ts';
import type { RedisConnection } from '../src/redis/redis-connection.ts';
import { createRedisCounters } from '../src/redis/redis-counters.ts';
import { createRedisEntries } from '../src/redis/redis-entries.ts';
import { createRedisJournal } from '../src/redis/redis-journal.ts';
import { createRedisLimits } from '../src/redis/redis-limits.ts';
import { createRedisLocks } from '../src/redis/redis-locks.ts';
import { createRequests } from '../src/requests.ts';
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
import { describeRequests } from './contract/requests-contract.ts';
import { failoverSubject, localSubject, redisSubject } from './subjects.ts';

describeChannels('in one process', () => localSubject((bus) => bus.channels));
describeChannels('Redis', () => redisSubject(createRedisChannels));
describeChannels('Redis with fail-over', () => failoverSubject((bus) => bus.channels));

describeLocks('in one process', () => localSubject((bus) => bus.locks));
describeLocks('Redis', () => redisSubject(createRedisLocks));
describeLocks('Redis with fail-over', () => failoverSubject((bus) => bus.locks));

describeCounters('in one process', () => localSubject((bus) => bus.counters));
describeCounters('Redis', () => redisSubject(createRedisCounters));
describeCounters('Redis with fail-over', () => failoverSubject((bus) => bus.counters));

describeEntries('in one process', () => localSubject((bus) => bus.entries));
describeEntries('Redis', () => redisSubject(createRedisEntries));
describeEntries('Redis with fail-over', () => failoverSubject((bus) => bus.entries));

describeByteCache('in one process', () => localSubject((bus) => bus.byteCache));
describeByteCache('Redis', () => redisSubject(createRedisByteCache));
describeByteCache('Redis with fail-over', () => failoverSubject((bus) => bus.byteCache));

describeCircuits('in one process', () => localSubject((bus) => bus.circuits));
describeCircuits('Redis', () => redisSubject(createRedisCircuits));
describeCircuits('Redis with fail-over', () => failoverSubject((bus) => bus.circuits));

const redisLimits = ({ connection, prefix }: { connection: RedisConnection; prefix: string }) => ({
  limits: createRedisLimits({ connection, prefix }),
  age: (milliseconds: number) => ageLimits(prefix, milliseconds),
});
describeLimits('in one process', () =>
  localSubject(({ backendLimits }, clock) => ({
    limits: backendLimits,
    age: (milliseconds) => Promise.resolve(clock.advance(milliseconds)),
  })),
);
describeLimits('Redis', () => redisSubject(redisLimits));
describeLimits('Redis with fail-over', () =>
  failoverSubject(({ backendLimits }, prefix) => ({
    limits: backendLimits,
    age: (milliseconds) => ageLimits(prefix, milliseconds),
  })),
);

describeAdmission('in one process', () =>
  localSubject(({ admission, counters }, clock) => ({
    admission,
    counters,
    passTime: (milliseconds) => Promise.resolve(clock.advance(milliseconds)),
    leftOver: () => Promise.resolve([]),
  })),
);
const redisAdmission = ({
  connection,
  prefix,
}: {
  connection: RedisConnection;
  prefix: string;
}) => ({
  admission: createRedisAdmission({ connection, prefix, epochCounter: ACCOUNT_EPOCH_KEY }),
  counters: createRedisCounters({ connection, prefix }),
  passTime: (milliseconds: number) => ageAdmissions(prefix, milliseconds),
  leftOver: () => leftOverCalls(prefix),
});
describeAdmission('Redis', () => redisSubject(redisAdmission));
describeAdmission('Redis with fail-over', () =>
  failoverSubject(({ admission, counters }, prefix) => ({
    admission,
    counters,
    passTime: (milliseconds) => ageAdmissions(prefix, milliseconds),
    leftOver: () => leftOverCalls(prefix),
  })),
);

describeJournal('files', () => localSubject((bus) => bus.journal));
describeJournal('Redis', () => redisSubject(createRedisJournal));
describeJournal('Redis with fail-over', () => failoverSubject((bus) => bus.journal));
describeJournal('files beside a private Redis', () =>
  failoverSubject((bus) => bus.journal, { isRedisPrivate: true }),
);

describeRequests('in one process', () =>
  localSubject(({ requests }) => ({ caller: requests, server: requests })),
);
describeRequests('Redis', () =>
  redisSubject((options) => {
    const channels = createRedisChannels(options);
    const make = (): ReturnType<typeof createRequests> => createRequests({ channels, ...options });
    return { caller: make(), server: make() };
  }),
);
describeRequests('Redis with fail-over', () =>
  failoverSubject(({ requests }) => ({ caller: requests, server: requests })),
);
