import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type PoolClient } from 'pg';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { createConnection, type Connection } from '../../src/connection/connection.ts';
import { PrismaClient } from '../../src/generated/client.ts';

describe('a transaction', () => {
  let opened: OpenedDatabase;
  let prisma: PrismaClient;
  let pool: Pool;
  let connection: Connection;

  beforeAll(async () => {
    opened = await openTestDatabase();
    prisma = new PrismaClient({ adapter: new PrismaPg(opened.raw.url) });
    pool = new Pool({ connectionString: opened.raw.url });
    connection = createConnection(prisma, pool);
  });

  afterAll(async () => {
    await prisma.$disconnect();
    await pool.end();
    await opened.close();
  });

  it('is repeated when Postgres ended it to resolve a deadlock', async () => {
    let attempts = 0;
    const holding = { free: deferred(), pro: deferred() };

    const raise = (first: 'free' | 'pro', second: 'free' | 'pro') =>
      connection.transaction(async (queries) => {
        attempts += 1;
        await queries.$executeRaw`UPDATE billing_tiers SET rpm = rpm + 1 WHERE name = ${first}`;
        holding[first].resolve();
        await holding[second].promise;
        await queries.$executeRaw`UPDATE billing_tiers SET rpm = rpm + 1 WHERE name = ${second}`;
      });
    await Promise.all([raise('free', 'pro'), raise('pro', 'free')]);

    expect(attempts).toBe(3);
    expect(
      await opened.raw.query(`SELECT name, rpm FROM billing_tiers WHERE rpm < 1000 ORDER BY name`),
    ).toEqual([
      { name: 'free', rpm: 12 },
      { name: 'pro', rpm: 122 },
    ]);
  });

  it('is given up after a few conflicts, and at once for any other failure', async () => {
    let conflicts = 0;
    const conflicting = connection.transaction(async (queries) => {
      conflicts += 1;
      await queries.$executeRaw`DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = 'serialization_failure'; END $$`;
    });
    await expect(conflicting).rejects.toThrow('again');
    expect(conflicts).toBe(6);

    let failures = 0;
    const failing = connection.transaction(async (queries) => {
      failures += 1;
      await queries.$executeRaw`SELECT 1 / 0`;
    });
    await expect(failing).rejects.toThrow('division by zero');
    expect(failures).toBe(1);
  });

  it('without Prisma fails, and not the process, when its connection is lost between two statements', async () => {
    let statements = 0;
    const { promise: closed, resolve } = deferred();
    pool.once('acquire', (client: PoolClient) => void client.once('end', resolve));
    const lost = connection.rawTransaction(async (queries) => {
      const [row] = await queries.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      await opened.raw.query(`SELECT pg_terminate_backend(${row?.pid})`);
      await closed;
      statements += 1;
      await queries.$executeRaw`SELECT 1`;
      statements += 1;
    });
    await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(statements).toBe(1);
    expect(
      await connection.rawTransaction((queries) => queries.$queryRaw`SELECT 1 AS one`),
    ).toEqual([{ one: 1 }]);
  });
});

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
