import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createAccessTokens } from '@model-gateway/accounts';
import { freePort, systemClock } from '@model-gateway/kernel';
import { rpcCall, waitUntil } from '@model-gateway/testkit';
import { createSecretSearch } from '../run/secret-search.ts';
import type { ServiceScene } from '../target.ts';
import { restoreRouting } from './restore-routing.ts';
import { startScriptedUpstreams } from './scripted-upstreams.ts';
import { restoreBackends, setUpService } from './set-up-service.ts';
import { startWatched } from './watched-process.ts';

const MAIN = resolve(import.meta.dirname, '../../../../apps/standalone/dist/main.js');
const START_TIMEOUT_MS = 180_000;
const TOKEN_TTL_SECS = 86_400;
/** A request that needs more memory than a small machine has is a finding too. */
const HEAP = '--max-old-space-size=384';

/** The build of all server apps as a separate process, with stores of its own. */
export async function startStandaloneProcess(): Promise<ServiceScene> {
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-fuzz-'));
  await chmod(dataDir, 0o711);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const secrets = createSecretSearch();
  const upstreams = await startScriptedUpstreams();
  const adminToken = randomBytes(24).toString('hex');
  const jwtSecret = randomBytes(32).toString('hex');
  const encryptionKey = randomBytes(32).toString('base64');
  const process = await startWatched({
    args: [HEAP, MAIN],
    graceSeconds: 45,
    secrets,
    environment: {
      // Limits, which other tests cover, are out of the way, and what waits for an upstream ends soon.
      SERVICE_API_RATE_LIMIT_RPM: '1000000000',
      SERVICE_BREAKER_FAILURES: '1000000',
      SERVICE_UPSTREAM_CONNECT_TIMEOUT_MS: '2000',
      SERVICE_UPSTREAM_IDLE_TIMEOUT_MS: '3000',
      SERVICE_UPSTREAM_TOTAL_TIMEOUT_MS: '6000',
      SERVICE_VIDEO_POLL_MS: '20',
      SERVICE_VIDEO_TIMEOUT_SECS: '2',
      // One of the upstreams is also the identity provider.
      SERVICE_OIDC_ISSUER: upstreams.of.external.url,
      SERVICE_OIDC_CLIENT_ID: 'fuzz',
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: String(port),
      SERVICE_DATA_DIR: dataDir,
      SERVICE_ADMIN_TOKEN: adminToken,
      SERVICE_JWT_SECRET: jwtSecret,
      SERVICE_ENCRYPTION_KEY: encryptionKey,
    },
    untilReady: () =>
      waitUntil(async () => (await fetch(`${url}/readyz`)).status === 200, {
        timeoutMs: START_TIMEOUT_MS,
        what: 'the service',
      }),
  });

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
    ...process,
    kind: 'service',
    restUrl: url,
    rpcUrl: url,
    tunnelUrl: url,
    upstreams,
    restoreBackends: () => restoreBackends({ restUrl: url, adminToken, upstreams }),
    restoreRouting: () => restoreRouting({ restUrl: url, rpcUrl: url, adminToken }),
    values,
    secrets,
    async close() {
      await process.close();
      await upstreams.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
