import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import type { Log, Metrics } from '@model-gateway/kernel';
import { sendJson, sendRestError, sendText } from '../responses/rest-errors.ts';
import { SERVICE_VERSION } from '../version.ts';

/** A store whose availability can be checked; the check rejects when it is not available. */
interface CheckedStore {
  ping(): Promise<void>;
}

interface ProbesOptions {
  readonly buildHash: string;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly stopping: AbortSignal;
  readonly database: CheckedStore;
  readonly bus: CheckedStore;
  /** Whether a request may read the metrics; every request may if it is absent. */
  readonly mayReadMetrics?: ((request: IncomingMessage) => boolean) | undefined;
  /** What the app adds to its health response. */
  readonly details?: () => Readonly<Record<string, unknown>>;
}

/** Serves the paths that orchestrators and monitors request. True when the path was one of them. */
export type Probes = (path: string, request: IncomingMessage, response: ServerResponse) => boolean;

const HEALTH_PATHS = new Set(['/health', '/healthz', '/readyz', '/v1/health', '/api/health']);
const METRICS_PATH = '/metrics';

/** Every path that the probes serve. */
export const PROBE_PATHS: readonly string[] = [...HEALTH_PATHS, METRICS_PATH];

/**
 * Health is 200 while the process serves, also while a store is unavailable: chat works without the stores, so their
 * outage must not remove every process from the load balancer. Only a draining process is not ready.
 */
export function createProbes(options: ProbesOptions): Probes {
  const { buildHash, metrics, stopping, database, bus, details } = options;
  metrics
    .gauge({
      name: 'service_build_info',
      help: 'Always 1; the labels name the running build.',
      labels: ['version', 'build_hash', 'node'],
    })
    .set({ version: SERVICE_VERSION, build_hash: buildHash, node: process.versions.node }, 1);

  async function sendHealth(path: string, response: ServerResponse): Promise<void> {
    if (path === '/readyz' && stopping.aborted) {
      sendJson(response, 503, { status: 'draining' });
      return;
    }
    const [postgres, redis] = [stateOf(database), stateOf(bus)];
    sendJson(response, 200, {
      status: 'ok',
      version: SERVICE_VERSION,
      build_hash: buildHash,
      ...details?.(),
      checks: { postgres: await postgres, redis: await redis },
    });
  }

  async function sendMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (options.mayReadMetrics?.(request) === false) {
      const error = new ServiceError(
        'authentication_required',
        'metrics need the admin token or SERVICE_METRICS_TOKEN as a bearer',
      );
      sendRestError(error, request, response, options.log);
      return;
    }
    const text = await metrics.expose();
    response.setHeader('content-type', metrics.contentType);
    response.end(text);
  }

  return (path, request, response) => {
    const { method } = request;
    const send = HEALTH_PATHS.has(path)
      ? () => sendHealth(path, response)
      : path === METRICS_PATH
        ? () => sendMetrics(request, response)
        : undefined;
    if (send === undefined) return false;
    if (method === 'GET' || method === 'HEAD') {
      send().catch(() => sendText(response, 500, 'internal error'));
    } else {
      response.setHeader('allow', 'GET, HEAD');
      sendJson(response, 405, {
        error: {
          message: 'use GET',
          type: 'invalid_request',
          code: 'method_not_allowed',
          param: null,
        },
      });
    }
    return true;
  };
}

const stateOf = (store: CheckedStore): Promise<'ok' | 'away'> =>
  store.ping().then(
    () => 'ok',
    () => 'away',
  );
