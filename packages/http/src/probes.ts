import type { ServerResponse } from 'node:http';
import type { Metrics } from '@model-gateway/kernel';
import { answerJson, answerText } from './rest-errors.ts';

/** Asks a store whether it is there; rejects when it is not. */
export type StoreCheck = () => Promise<void>;

interface ProbesOptions {
  readonly version: string;
  readonly buildHash: string;
  readonly metrics: Metrics;
  readonly stopping: AbortSignal;
  /** The stores that the app uses, by name. */
  readonly checks: Readonly<Record<string, StoreCheck>>;
  /** What the app adds to its health answer. */
  readonly details?: () => Readonly<Record<string, unknown>>;
}

/** The paths that orchestrators and monitors ask. True when the path was one of them and has been answered. */
export type Probes = (
  method: string | undefined,
  path: string,
  response: ServerResponse,
) => boolean;

const HEALTH_PATHS = new Set(['/healthz', '/readyz', '/v1/health', '/api/health']);
const METRICS_PATH = '/metrics';

/** Every path that is answered here. */
export const PROBE_PATHS: readonly string[] = [...HEALTH_PATHS, METRICS_PATH];

/**
 * Health answers 200 while the process serves, also with a store away: chat goes on without them, so an outage of a store
 * must not empty the load balancer. Only a draining process is not ready.
 */
export function createProbes(options: ProbesOptions): Probes {
  const { version, buildHash, metrics, stopping, checks, details } = options;
  metrics
    .gauge({
      name: 'service_build_info',
      help: 'Always 1; says which build runs.',
      labels: ['version', 'build_hash', 'node'],
    })
    .set({ version, build_hash: buildHash, node: process.versions.node }, 1);

  async function answerHealth(path: string, response: ServerResponse): Promise<void> {
    if (path === '/readyz' && stopping.aborted) {
      answerJson(response, 503, { status: 'draining' });
      return;
    }
    answerJson(response, 200, {
      status: 'ok',
      version,
      build_hash: buildHash,
      ...details?.(),
      checks: await runChecks(checks),
    });
  }

  async function answerMetrics(response: ServerResponse): Promise<void> {
    const text = await metrics.expose();
    response.setHeader('content-type', metrics.contentType);
    response.end(text);
  }

  return (method, path, response) => {
    const answer = HEALTH_PATHS.has(path)
      ? answerHealth
      : path === METRICS_PATH
        ? () => answerMetrics(response)
        : undefined;
    if (answer === undefined) return false;
    if (method === 'GET' || method === 'HEAD') {
      answer(path, response).catch(() => answerText(response, 500, 'internal error'));
    } else {
      response.setHeader('allow', 'GET, HEAD');
      answerJson(response, 405, {
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

async function runChecks(
  checks: Readonly<Record<string, StoreCheck>>,
): Promise<Record<string, 'ok' | 'away'>> {
  const entries = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const state = await check().then(
        () => 'ok' as const,
        () => 'away' as const,
      );
      return [name, state] as const;
    }),
  );
  return Object.fromEntries(entries);
}
