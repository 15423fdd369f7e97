// A standalone service with stores of its own and an account without limits, for benchmarks that need nothing else.
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createProcesses } from './processes.mjs';
import { post, startStores } from './service.mjs';

/** Starts it with more variables of the environment; it stops with the scratch. */
export async function startStandalone({ folder, opened }, variables = {}) {
  const { databaseUrl, redisUrl, stop } = await startStores({ folder, options: {} });
  opened.push(stop);
  const processes = await createProcesses();
  opened.push(() => processes.stopAll());
  const adminToken = randomBytes(24).toString('base64url');
  const { port } = await processes.start({
    name: 'standalone',
    command: () => [
      process.execPath,
      fileURLToPath(new URL('../../apps/standalone/dist/main.js', import.meta.url)),
    ],
    environment: (own) => ({
      NODE_ENV: 'production',
      SERVICE_PORT: String(own),
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      SERVICE_DATA_DIR: folder,
      SERVICE_ADMIN_TOKEN: adminToken,
      SERVICE_DEMO: 'false',
      SERVICE_API_RATE_LIMIT_RPM: '100000000',
      ...variables,
    }),
  });
  const url = `http://127.0.0.1:${port}`;
  const rpc = async (method, params, token) => {
    const message = { jsonrpc: '2.0', id: 1, method, params };
    const { result, error } = await post(`${url}/api/rpc`, message, token);
    if (error !== undefined) throw new Error(`${method} failed: ${error.message}`);
    return result;
  };
  const { access_token: token } = await rpc('auth.register', {
    email: 'bench@example.com',
    password: randomBytes(12).toString('hex'),
  });
  const quotas = { monthly_usd_quota: 1e9, monthly_token_quota: 1e15, rpm: null };
  await rpc('billing.tiers.set', { name: 'free', ...quotas }, adminToken);
  const { key } = await rpc('keys.create', { name: 'bench' }, token);
  return {
    url,
    key,
    /** For another process on the same stores. */
    environment: {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      SERVICE_DATA_DIR: folder,
      ...variables,
    },
    rpc: (method, params) => rpc(method, params, token),
    registerBackend: (backend) => post(`${url}/api/admin/backends`, backend, adminToken),
  };
}
