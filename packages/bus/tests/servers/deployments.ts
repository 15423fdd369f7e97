import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@model-gateway/kernel';
import type { Redis } from 'ioredis';
import type { RedisAccess } from '../../src/redis/redis-access.ts';
import { eventually } from '../eventually.ts';
import { makeTemporaryDirectory, removeDirectory } from '../temporary-directory.ts';
import { createServerProcess, DURABLE, type ServerProcess } from './server-process.ts';

/** A Redis as people run it. */
export interface Deployment {
  readonly url: string;
  readonly access: RedisAccess;
  /** The server that takes the writes of a key now. */
  primary(): Promise<ServerProcess>;
  remove(): Promise<void>;
}

const run = promisify(execFile);
const HOST = '127.0.0.1';

/** A client of the server that takes the writes; the caller disconnects it. */
export const openPrimary = async (deployment: Deployment): Promise<Redis> =>
  (await deployment.primary()).open();

/** The user that docs/operations.md recommends. */
const ACL_USER = 'user gateway on >right-password ~bus-test-* &bus-test-* +@all -@dangerous +info';

/** TLS with a certificate authority of its own, and a user with the rights that the service needs. */
export async function createSecuredRedis(): Promise<Deployment> {
  const folder = await makeTemporaryDirectory();
  const port = await freePort();
  const { ca, caFile } = await makeCertificates(folder);
  const server = createServerProcess({
    folder,
    port,
    client: { username: 'tester', password: 'testing', tls: { ca } },
    lines: [
      'port 0',
      `tls-port ${port}`,
      `tls-cert-file ${join(folder, 'server.pem')}`,
      `tls-key-file ${join(folder, 'server.key')}`,
      `tls-ca-cert-file ${caFile}`,
      'tls-auth-clients no',
      'user default off',
      'user tester on >testing ~* &* +@all',
      ACL_USER,
    ],
  });
  await server.start();
  return single(server, folder, {
    url: `rediss://gateway:right-password@localhost:${port}`,
    access: { redisCaFile: caFile },
  });
}

/** A server of another program that speaks the protocol of Redis. */
export async function createOtherServer(binary: string): Promise<Deployment> {
  const folder = await makeTemporaryDirectory();
  const port = await freePort();
  const server = createServerProcess({ binary, folder, port, lines: [] });
  await server.start();
  return single(server, folder, { url: `redis://${HOST}:${port}`, access: {} });
}

/** A primary, a replica, and three Sentinels with a password. */
export async function createSentinelRedis(): Promise<Deployment> {
  const folder = await makeTemporaryDirectory();
  const ports = await freePorts(5);
  const [first, second, ...sentinelPorts] = ports;
  const client = { password: 'of-redis' };
  const common = [
    ...DURABLE,
    'requirepass of-redis',
    'masterauth of-redis',
    'repl-diskless-sync-delay 0',
  ];
  const data = [
    createServerProcess({ folder, port: first ?? 0, client, lines: common }),
    createServerProcess({
      folder,
      port: second ?? 0,
      client,
      lines: [...common, `replicaof ${HOST} ${first}`],
    }),
  ];
  const sentinels = sentinelPorts.map((port) =>
    createServerProcess({
      folder,
      port,
      isSentinel: true,
      client: { password: 'of-sentinel' },
      lines: [
        'requirepass of-sentinel',
        `sentinel monitor primary ${HOST} ${first} 2`,
        'sentinel auth-pass primary of-redis',
        'sentinel sentinel-pass of-sentinel',
        'sentinel down-after-milliseconds primary 1500',
        'sentinel failover-timeout primary 5000',
      ],
    }),
  );
  await Promise.all([...data, ...sentinels].map((server) => server.start()));
  await eventually('the replica follows', () => hasReplica(data[0]));
  await eventually('the Sentinels know each other', async () => {
    const known = await Promise.all(sentinels.map(knownBy));
    return known.every(({ others, replicas }) => others === 2 && replicas === 1);
  });

  return {
    url: `redis://:of-redis@unused.invalid`,
    access: {
      redisSentinels: sentinelPorts.map((port) => ({ host: HOST, port })),
      redisMaster: 'primary',
      redisSentinelPassword: 'of-sentinel',
    },
    async primary() {
      const sentinel = sentinels[0]?.open();
      const answer = await sentinel?.call('SENTINEL', 'get-master-addr-by-name', 'primary');
      sentinel?.disconnect();
      const port = Array.isArray(answer) ? Number(answer[1]) : 0;
      const found = data.find((server) => server.port === port);
      if (found === undefined) throw new Error(`no server at ${port}`);
      return found;
    },
    remove: () => removeAll([...sentinels, ...data], folder),
  };
}

/** Three primaries with a replica each. */
export async function createClusterRedis(key: string): Promise<Deployment> {
  const folder = await makeTemporaryDirectory();
  const found = await freePorts(12);
  const [ports, busPorts] = [found.slice(0, 6), found.slice(6)];
  const servers = ports.map((port, index) =>
    createServerProcess({
      folder,
      port,
      lines: [
        ...DURABLE,
        'cluster-enabled yes',
        `cluster-port ${busPorts[index]}`,
        'cluster-node-timeout 1500',
        'cluster-replica-validity-factor 0',
        'repl-diskless-sync-delay 0',
      ],
    }),
  );
  await Promise.all(servers.map((server) => server.start()));
  const addresses = ports.map((port) => `${HOST}:${port}`);
  const flags = ['--cluster-replicas', '1', '--cluster-yes'];
  await run('redis-cli', ['--cluster', 'create', ...addresses, ...flags]);
  const primary = () => primaryOfSlot(servers, key);
  await eventually('the Cluster is complete', async () => {
    const states = await Promise.all(servers.map(clusterState));
    return states.every((state) => state === 'ok') && (await hasReplica(await primary()));
  });
  return {
    url: `redis://unused.invalid`,
    // Two nodes suffice to find the others.
    access: { redisCluster: ports.slice(0, 2).map((port) => ({ host: HOST, port })) },
    primary,
    remove: () => removeAll(servers, folder),
  };
}

/** The nodes tell it in turn, since some of them may be down. */
async function primaryOfSlot(
  servers: readonly ServerProcess[],
  key: string,
): Promise<ServerProcess> {
  for (const server of servers) {
    const client = server.open();
    try {
      const moved = await Promise.race([
        client.set(key, '').then(() => server.port),
        new Promise<never>((_resolve, reject) => client.once('error', reject)),
      ]).catch((error: unknown) => Number(/MOVED \d+ \S+:(\d+)/.exec(String(error))?.[1]));
      const found = servers.find(({ port }) => port === moved);
      if (found !== undefined) return found;
    } finally {
      client.disconnect();
    }
  }
  throw new Error('no node of the Cluster has the slot');
}

async function knownBy(sentinel: ServerProcess) {
  const client = sentinel.open();
  try {
    const [others, replicas] = await Promise.all([
      client.call('SENTINEL', 'sentinels', 'primary'),
      client.call('SENTINEL', 'replicas', 'primary'),
    ]);
    const count = (answer: unknown): number => (Array.isArray(answer) ? answer.length : 0);
    return { others: count(others), replicas: count(replicas) };
  } finally {
    client.disconnect();
  }
}

const clusterState = async (server: ServerProcess): Promise<string | undefined> => {
  const client = server.open();
  const info = await client.cluster('INFO');
  client.disconnect();
  return /cluster_state:(\w+)/.exec(info)?.[1];
};

async function hasReplica(server: ServerProcess | undefined): Promise<boolean> {
  const client = server?.open();
  const info = await client?.info('replication');
  client?.disconnect();
  return /slave0:.*state=online/.test(info ?? '');
}

function single(
  server: ServerProcess,
  folder: string,
  where: Pick<Deployment, 'url' | 'access'>,
): Deployment {
  return {
    ...where,
    primary: () => Promise.resolve(server),
    remove: () => removeAll([server], folder),
  };
}

async function removeAll(servers: readonly ServerProcess[], folder: string): Promise<void> {
  await Promise.all(servers.map((server) => server.kill()));
  await removeDirectory(folder);
}

function freePorts(count: number): Promise<readonly number[]> {
  return Promise.all(Array.from({ length: count }, () => freePort()));
}

/** An authority and a certificate for `localhost` that it signed. */
async function makeCertificates(folder: string) {
  const openssl = (...flags: readonly string[]) => run('openssl', [...flags], { cwd: folder });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=test-ca',
  );
  await openssl(
    'req',
    ...key,
    '-keyout',
    'server.key',
    '-out',
    'server.csr',
    '-subj',
    '/CN=localhost',
  );
  await writeFile(join(folder, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
  await openssl('x509', '-req', '-in', 'server.csr', ...signing, '-out', 'server.pem');
  const caFile = join(folder, 'ca.pem');
  const { stdout: ca } = await run('cat', [caFile]);
  return { ca, caFile };
}
