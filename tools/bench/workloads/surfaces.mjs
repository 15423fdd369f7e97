import { cpuMs, fetchAnew } from '../processes.mjs';
import { requestValues, sendUntilWarm } from './rounds.mjs';

const CONNECTIONS = 64;
const PER_SECOND_MIN = 2000;

/** The speed of the APIs besides inference. */
export const surfaces = {
  name: 'surfaces',
  title: `other surfaces, ${CONNECTIONS} connections, one process on one core`,
  columns: [
    { key: 'perSecond', label: 'requests/s', digits: 0 },
    { key: 'cpuMsPer1k', label: 'CPU ms per 1k', digits: 0 },
    { key: 'p50Ms', label: 'p50 ms', digits: 2 },
    { key: 'p99Ms', label: 'p99 ms', digits: 2 },
    { key: 'errors', label: 'errors', digits: 0 },
  ],
  async run(run) {
    const { service } = run;
    const rows = [
      await measure(run, 'gateway', 'GET /v1/models', {
        method: 'GET',
        path: '/v1/models',
        headers: { authorization: `Bearer ${service.key}` },
      }),
      await measure(run, 'rpc', 'JSON-RPC auth.me', {
        path: '/api/rpc',
        headers: { authorization: `Bearer ${service.accessToken}` },
        body: { jsonrpc: '2.0', id: 1, method: 'auth.me', params: {} },
      }),
    ];
    return {
      rows,
      goals: rows.map(({ label, perSecond }) => ({
        what: label,
        atLeast: PER_SECOND_MIN,
        unit: '/s',
        measured: perSecond,
      })),
    };
  },
};

async function measure(run, app, label, request) {
  const { requestMs, warmupMs, rounds } = run.options.size;
  const child = await run.service.startApp(app, {
    on: run.cores?.measured,
    workload: `surfaces-${app}`,
  });
  try {
    const refusal = await refusalOf(child.port, request);
    if (refusal !== undefined) return { name: label, label, refusal };
    const load = (durationMs) =>
      run.load.requests({
        ports: [child.port],
        request,
        cores: run.cores?.load,
        connections: CONNECTIONS,
        durationMs,
      });
    await sendUntilWarm(load, warmupMs);
    const samples = [];
    for (let round = 1; round <= rounds; round += 1) {
      run.progress(`surfaces: ${label}, round ${round} of ${rounds}`);
      const cpuBefore = cpuMs(child.pid);
      const sample = await load(requestMs);
      samples.push({ ...sample, cpuMs: cpuMs(child.pid) - cpuBefore });
    }
    return { name: label, label, ...requestValues(samples) };
  } finally {
    await child.stop();
  }
}

/** An API that returns errors would look fast; JSON-RPC returns errors in the body. */
async function refusalOf(port, { method = 'POST', path, headers, body }) {
  const response = await fetchAnew(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return response.ok && !text.includes('"error"')
    ? undefined
    : `HTTP ${response.status}: ${text.slice(0, 200)}`;
}
