import { RpcConnectionError } from '@model-gateway/client';
import type { CommandContext } from '../command-context.ts';
import { isLocal } from '../service/admin-token.ts';
import { isObject, type RestResponse } from '../service/rest.ts';
import { toCliError } from '../service/service-errors.ts';
import { broken, checked, type CheckResult } from './check.ts';
import type { Exchange } from './machine.ts';

/** The health response of a service, where it is one. */
export interface Reached {
  readonly result: CheckResult;
  readonly health?: Readonly<Record<string, unknown>>;
  readonly response?: RestResponse;
  readonly exchange?: Exchange;
}

const NOT_FOUND = 404;

/** Whether a service answers at the address. */
export async function reach({ service }: CommandContext): Promise<Reached> {
  const { url } = service;
  const sentAt = Date.now();
  try {
    const response = await service.probe('/v1/health');
    const exchange = { sentAt, receivedAt: Date.now() };
    const { body } = response;
    if (!isObject(body) || typeof body['version'] !== 'string' || !isObject(body['checks'])) {
      return { result: anotherProgram(url, `HTTP ${response.status}`) };
    }
    const result = checked('service', 'ok', `${url} answers, version ${body['version']}`);
    return { result, health: body, response, exchange };
  } catch (error) {
    return { result: unreachable(error, url) };
  }
}

const anotherProgram = (url: string, answer: string): CheckResult =>
  checked(
    'service',
    'failed',
    `${url} is not a Model Gateway (${answer})`,
    `Another program uses this port, or the address is wrong (it is the base URL, without /v1). Start the service on another port: set SERVICE_PORT=9000 and run npm start, or npx model-gateway without a clone`,
  );

function unreachable(error: unknown, url: string): CheckResult {
  const known = toCliError(error, url);
  const isRefused = /ECONNREFUSED/.test(known.message);
  if (isRefused && isLocal(url)) {
    return checked(
      'service',
      'failed',
      `nothing listens at ${url}`,
      'Start the service (npm start, or npx model-gateway without a clone), or name its address: --url http://127.0.0.1:9000, or GATEWAY_URL',
    );
  }
  // A program that does not speak HTTP closes the connection.
  const isOther =
    error instanceof RpcConnectionError &&
    /HTTP\/1\.1 protocol|parse error|other side closed/i.test(known.message);
  return isOther && isLocal(url) ? anotherProgram(url, known.message) : broken('service', known);
}

const STORE_NAMES: Readonly<Record<string, string>> = {
  postgres: 'Postgres',
  redis: 'the shared store (Redis, or in the process without one)',
};

/** Whether the stores of the service are there. */
export function storesCheck(health: Readonly<Record<string, unknown>>): CheckResult {
  const checks = isObject(health['checks']) ? health['checks'] : {};
  const away = Object.entries(checks).flatMap(([store, state]) => (state === 'ok' ? [] : [store]));
  if (away.length === 0) {
    const names = Object.keys(checks).map((store) => STORE_NAMES[store] ?? store);
    return checked('stores', 'ok', `${names.join(' and ')} answer`);
  }
  return checked(
    'stores',
    'failed',
    `the service cannot reach ${away.join(' and ')}`,
    `Start ${away.join(' and ')}, or correct ${away.map((store) => (store === 'redis' ? 'REDIS_URL' : 'DATABASE_URL')).join(' and ')}. If a disk is full, free space on it. The log of the service says why. docs/troubleshooting.md has more.`,
  );
}

/** Whether the management plane is behind the same address. */
export async function managementCheck({ service, signal }: CommandContext): Promise<CheckResult> {
  try {
    await service.anonymous.call('system.status', {}, { signal });
    return checked('management', 'ok', 'the management plane (/api/rpc) answers');
  } catch (error) {
    const { message } = toCliError(error, service.url);
    return checked(
      'management',
      'failed',
      message,
      'Route /api/rpc to the rpc app (port 8081), or use standalone, which has everything on one port.',
    );
  }
}

/** Whether GPU nodes can connect at the same address. */
export async function tunnelCheck({ service }: CommandContext): Promise<CheckResult> {
  const { status } = await service.probe('/ws/agent').catch(() => ({ status: NOT_FOUND }));
  // It answers a request without an upgrade by asking for a token or an upgrade.
  return status >= 400 && status < 500 && status !== NOT_FOUND
    ? checked('gpu-nodes', 'ok', 'GPU nodes can connect (/ws/agent)')
    : checked(
        'gpu-nodes',
        'warning',
        'GPU nodes cannot connect: /ws/agent is not there',
        'Route /ws/agent to the agent-tunnel app (port 8082) if you use GPU nodes.',
      );
}
