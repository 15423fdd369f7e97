// The candidates. They are restarted for each workload and take turns within its rounds.
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureNginx, nginxCommand } from './peers/nginx.mjs';
import { ensurePortkey, portkeyCommand, PORTKEY_VERSION } from './peers/portkey.mjs';

const FIRST_ANSWER_TIMEOUT_MS = 10_000;
const FIRST_ANSWER_INTERVAL_MS = 100;

/** Their names in the tables. */
export const LABELS = {
  direct: 'upstream directly',
  nginx: 'nginx proxy_pass',
  bare: 'node:http + undici, bare',
  metered: 'node:http + undici, metered',
  portkey: `Portkey ${PORTKEY_VERSION}, bare`,
  gateway: 'our gateway',
  'bare-two': 'node:http + undici, bare, two processes',
  'gateway-two': 'our gateway, two processes',
};

const peer = (name) => fileURLToPath(new URL(`peers/${name}.mjs`, import.meta.url));

/** Creates the function that starts candidates by name. A peer that is not available is skipped with a note. */
export async function createCandidates(run) {
  const { processes, service, options, cores, folder, upstream } = run;
  const origin = `http://127.0.0.1:${upstream.port}`;
  const nginx = await ensureNginx();
  const portkey = await ensurePortkey();
  const notes = [];
  if (nginx === undefined) notes.push('nginx is not installed and was skipped.');
  if (portkey === undefined) notes.push('Portkey could not be downloaded and was skipped.');

  const spawnPeer = (name, command, environment = () => ({ NODE_ENV: 'production' })) =>
    processes.start({ name, command, environment, cores: cores?.measured });
  const bare = () =>
    spawnPeer('bare', (port) => [options.node, peer('bare'), port, origin].map(String));
  const gateway = (workload) =>
    service.startApp('gateway', { on: cores?.measured, workload, node: options.node });
  const authorization = { authorization: `Bearer ${service.key}` };

  const candidates = {
    direct: { start: async () => [{ ...upstream, stop: async () => undefined }] },
    nginx: nginx && {
      start: async () => [
        await spawnPeer('nginx', (port) =>
          nginxCommand({ program: nginx, folder, port, upstreamPort: upstream.port }),
        ),
      ],
    },
    bare: { start: async () => [await bare()] },
    'bare-two': { start: () => Promise.all([bare(), bare()]) },
    metered: {
      headers: authorization,
      start: async () => [
        await spawnPeer('metered', (port) =>
          [options.node, peer('metered'), port, origin, service.redisUrl, service.key].map(String),
        ),
      ],
    },
    portkey: portkey && {
      headers: {
        authorization: 'Bearer bench',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `${origin}/v1`,
      },
      start: async () => [
        await spawnPeer('portkey', (port) =>
          portkeyCommand({ node: options.node, program: portkey, port }),
        ),
      ],
    },
    gateway: { headers: authorization, start: async (workload) => [await gateway(workload)] },
    'gateway-two': {
      headers: authorization,
      start: (workload) => Promise.all([gateway(workload), gateway(workload)]),
    },
  };

  return {
    notes,
    /** Starts the available candidates; each must respond to `request` once, or has a `refusal`. */
    async start(names, { workload, body }) {
      const started = [];
      for (const name of names.filter((each) => candidates[each])) {
        started.push(await startCandidate({ name, ...candidates[name] }, { workload, body }));
      }
      return started;
    },
  };
}

/** Starts the processes of one candidate; each must respond to a request once, or `refusal` has the reason. */
export async function startCandidate({ name, headers = {}, start }, { workload, body }) {
  const children = await start(workload);
  const request = { path: '/v1/chat/completions', headers, body };
  const refusals = await Promise.all(children.map(({ port }) => firstAnswer(port, request)));
  return {
    name,
    label: LABELS[name],
    request,
    refusal: refusals.find((refusal) => refusal !== undefined),
    ports: children.map(({ port }) => port),
    pids: children.map(({ pid }) => pid),
    stop: () => Promise.all(children.map((child) => child.stop())),
  };
}

/** Waits for the first response with 200: a new gateway may still be probing its backend. */
async function firstAnswer(port, { path, headers, body }) {
  const deadline = performance.now() + FIRST_ANSWER_TIMEOUT_MS;
  for (;;) {
    const refusal = await ask(`http://127.0.0.1:${port}${path}`, headers, body);
    if (refusal === undefined || performance.now() > deadline) return refusal;
    await sleep(FIRST_ANSWER_INTERVAL_MS);
  }
}

/** Why a request failed; undefined if it succeeded. */
async function ask(url, headers, body) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return response.ok ? undefined : `HTTP ${response.status}: ${text.slice(0, 200)}`;
  } catch (error) {
    // Another process may have used this port before, and a connection to it may still be pooled.
    return String(error.cause ?? error);
  }
}
