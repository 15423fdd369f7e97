import { serverSettings, surfaceSettings } from '@model-gateway/http';
import { createLog, loadConfig } from '@model-gateway/kernel';
import {
  createTestAccount,
  createTestContext,
  testRedisUrl,
  uniquePrefix,
} from '@model-gateway/testkit';
import { agentTunnelSettings, createAgentTunnel } from 'agent-tunnel/app';
import { createGateway, gatewaySettings } from 'gateway/app';
import { accountSettings, createRpc } from 'rpc/app';
import { createVideoWorker, videoWorkerSettings } from 'video-worker/app';
import { createSecretSearch } from '../run/secret-search.ts';
import type { ServiceScene } from '../target.ts';
import { serviceEnvironment } from './environment.ts';
import { restoreRouting } from './restore-routing.ts';
import { startScriptedUpstreams } from './scripted-upstreams.ts';
import { restoreBackends, setUpService } from './set-up-service.ts';
import { createLogWatch } from './watch-log.ts';

const ADMIN_TOKEN = 'the admin token of the tests';

/** The server apps in this process, on the stores of the tests. */
export async function startInProcess(): Promise<ServiceScene> {
  const test = await createTestContext();
  const secrets = createSecretSearch();
  const watch = createLogWatch(secrets);
  const upstreams = await startScriptedUpstreams();
  const log = createLog({ level: 'info', app: 'fuzz', destination: { write: watch.onLine } });
  const context = { ...test.context, log };
  const config = loadConfig(
    {
      ...serverSettings(0),
      ...surfaceSettings,
      ...gatewaySettings,
      ...accountSettings,
      ...agentTunnelSettings,
      ...videoWorkerSettings,
    },
    { ...serviceEnvironment(upstreams), SERVICE_ADMIN_TOKEN: ADMIN_TOKEN },
  );
  const tunnelUrl = await test.serve(createAgentTunnel(config, context));
  const rpcUrl = await test.serve(createRpc(config, context));
  const restUrl = await test.serve(createGateway(config, context));
  const queueRedisUrl = testRedisUrl();
  await test.serve(
    createVideoWorker({ ...config, queueRedisUrl, redisPrefix: uniquePrefix() }, context),
  );
  const { token: admin } = await createTestAccount(context, 'admin@example.com');
  const { token: user } = await createTestAccount(context, 'user@example.com');
  const { token: owner } = await createTestAccount(context, 'owner@example.com');
  secrets.add('jwt_secret', context.jwtSecret);
  secrets.add('agent_tunnel_key', context.agentTunnelKey);
  const values = await setUpService({
    restUrl,
    rpcUrl,
    adminToken: ADMIN_TOKEN,
    tokens: { admin, user, owner },
    upstreams,
    secrets,
  });
  const onRejection = (error: unknown): void => watch.add(`unhandled rejection: ${String(error)}`);
  process.on('unhandledRejection', onRejection);
  return {
    kind: 'service',
    restUrl,
    rpcUrl,
    tunnelUrl,
    upstreams,
    restoreBackends: () => restoreBackends({ restUrl, adminToken: ADMIN_TOKEN, upstreams }),
    restoreRouting: () => restoreRouting({ restUrl, rpcUrl, adminToken: ADMIN_TOKEN }),
    values,
    secrets,
    healthUrl: undefined,
    takeProblems: watch.take,
    ensureRunning: () => Promise.resolve(),
    async close() {
      process.off('unhandledRejection', onRejection);
      await test.close();
      await upstreams.close();
    },
  };
}
