import { randomBytes } from 'node:crypto';
import { mkdtemp, chmod, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAccessTokens } from '@model-gateway/accounts';
import {
  freePort,
  startGuarded,
  SYSTEM_ENVIRONMENT,
  systemClock,
  type GuardedProcess,
} from '@model-gateway/kernel';
import { rpcCall, waitUntil } from '@model-gateway/testkit';
import { createSecretSearch } from '../run/secret-search.ts';
import type { ServiceScene } from '../target.ts';
import { serviceEnvironment } from './environment.ts';
import { restoreRouting } from './restore-routing.ts';
import { startScriptedUpstreams } from './scripted-upstreams.ts';
import { restoreBackends, setUpService } from './set-up-service.ts';
import { createLogWatch } from './watch-log.ts';

const MAIN = fileURLToPath(new URL('../../../../apps/standalone/dist/main.js', import.meta.url));
const START_TIMEOUT_MS = 180_000;
const STOP_GRACE_SECONDS = 45;
const TOKEN_TTL_SECS = 86_400;
const METER = fileURLToPath(
  new URL('../../../../apps/standalone/tests/child/busy-meter.mjs', import.meta.url),
);
/** A request that needs more memory than a small machine has is a finding too. */
const NODE_OPTIONS = '--max-old-space-size=384';
const LINES_SHOWN = 15;

/** The build of all server apps as a separate process, with stores of its own. */
export async function startStandaloneProcess(): Promise<ServiceScene> {
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-fuzz-'));
  await chmod(dataDir, 0o711);
  const port = await freePort();
  const meterPort = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const secrets = createSecretSearch();
  const watch = createLogWatch(secrets);
  const upstreams = await startScriptedUpstreams();
  const adminToken = randomBytes(24).toString('hex');
  const jwtSecret = randomBytes(32).toString('hex');
  const encryptionKey = randomBytes(32).toString('base64');
  const environment = {
    ...SYSTEM_ENVIRONMENT,
    ...serviceEnvironment(upstreams),
    NODE_OPTIONS,
    TEST_BUSY_METER_PORT: String(meterPort),
    SERVICE_HOST: '127.0.0.1',
    SERVICE_PORT: String(port),
    SERVICE_DATA_DIR: dataDir,
    SERVICE_ADMIN_TOKEN: adminToken,
    SERVICE_JWT_SECRET: jwtSecret,
    SERVICE_ENCRYPTION_KEY: encryptionKey,
  };
  let child: GuardedProcess | undefined;
  let isStopping = false;

  async function start(): Promise<void> {
    const started = startGuarded({
      command: [process.execPath, `--import=${METER}`, MAIN],
      graceSeconds: STOP_GRACE_SECONDS,
      environment,
      onLine: watch.onLine,
    });
    child = started;
    void started.exited.then((status) => {
      child = undefined;
      if (isStopping) return;
      const last = started.lastLines().slice(-LINES_SHOWN).join('\n');
      watch.add(`the process ended with status ${status}:\n${last}`);
    });
    await waitUntil(async () => (await fetch(`${url}/readyz`)).status === 200, {
      timeoutMs: START_TIMEOUT_MS,
      what: 'the service',
    });
  }

  const sign = createAccessTokens({
    secret: jwtSecret,
    expiresInSecs: TOKEN_TTL_SECS,
    clock: systemClock,
  });
  /** Its token belongs to no sign-in, so that no case can end it. */
  async function register(name: string): Promise<string> {
    const password = randomBytes(16).toString('hex');
    secrets.add(`the password of ${name}`, password);
    const params = { email: `${name}@example.com`, password };
    const { result, error } = await rpcCall(url, 'auth.register', params);
    if (error !== undefined) throw new Error(error.message);
    const { user, refresh_token } = result as { user: { id: string }; refresh_token: string };
    secrets.add(`the refresh token of ${name}`, refresh_token);
    return sign.sign(user.id);
  }

  await start();
  secrets.add('jwt_secret', jwtSecret);
  secrets.add('encryption_key', encryptionKey);
  const values = await setUpService({
    restUrl: url,
    rpcUrl: url,
    adminToken,
    tokens: {
      admin: await register('admin'),
      user: await register('user'),
      owner: await register('owner'),
    },
    upstreams,
    secrets,
  });
  return {
    kind: 'service',
    restUrl: url,
    rpcUrl: url,
    tunnelUrl: url,
    upstreams,
    restoreBackends: () => restoreBackends({ restUrl: url, adminToken, upstreams }),
    restoreRouting: () => restoreRouting({ restUrl: url, rpcUrl: url, adminToken }),
    values,
    secrets,
    healthUrl: `${url}/healthz`,
    busyMs: async () => Number(await (await fetch(`http://127.0.0.1:${meterPort}`)).text()),
    takeProblems: watch.take,
    async ensureRunning() {
      if (child === undefined) await start();
    },
    async close() {
      isStopping = true;
      await child?.stop();
      await upstreams.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
