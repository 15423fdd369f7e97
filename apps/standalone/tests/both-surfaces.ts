import { createServiceRuntime, type ServiceRuntime } from '@model-gateway/service';
import {
  createTestContext,
  createTestAccount,
  rpcCall,
  type TestContext,
} from '@model-gateway/testkit';
import { createGateway } from 'gateway/app';
import { createRpc } from 'rpc/app';
import { readStandaloneConfig } from '../src/config.ts';

export const ADMIN_TOKEN = 'the admin token of the tests';

/** The REST and the RPC API on one set of stores and backends, with two users. */
export interface BothSurfaces {
  readonly test: TestContext;
  readonly runtime: ServiceRuntime;
  readonly restUrl: string;
  readonly rpcUrl: string;
  readonly ann: Account;
  readonly bob: Account;
  /** Posts a chat with the key of the account. */
  chat(account: Account, body: string | object): Promise<Response>;
}

export interface Account {
  readonly id: string;
  readonly token: string;
  readonly key: string;
}

export async function startBothSurfaces(
  stores: Parameters<typeof createTestContext>[0] = {},
): Promise<BothSurfaces> {
  const test = await createTestContext(stores);
  const { database } = test.context;
  const config = readStandaloneConfig({
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_API_RATE_LIMIT_RPM: '100000',
  });
  await database.plans.saveTier('free', {
    monthlyUsdQuota: null,
    monthlyTokenQuota: null,
    rpm: null,
  });
  const runtime = createServiceRuntime(config, test.context);
  const gateway = createGateway(config, test.context, { runtime });
  const rpcUrl = await test.serve(createRpc(config, test.context, { runtime }));
  const restUrl = await test.serve({
    ...gateway,
    start: async () => {
      await runtime.start();
      await gateway.start();
    },
    stop: async () => {
      await gateway.stop();
      await runtime.stop();
    },
  });
  return {
    test,
    runtime,
    restUrl,
    rpcUrl,
    ann: await account(test, rpcUrl, 'ann'),
    bob: await account(test, rpcUrl, 'bob'),
    chat: ({ key }, body) =>
      fetch(`${restUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

async function account({ context }: TestContext, url: string, name: string): Promise<Account> {
  const { id, token } = await createTestAccount(context, `${name}@example.com`);
  const made = await rpcCall(url, 'keys.create', { name: 'test' }, token);
  const { key } = made.result as { key: string };
  return { id, token, key };
}
