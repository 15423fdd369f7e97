import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import {
  ServiceError,
  tunneledResponseSchema,
  type TunneledRequest,
  type TunneledResponse,
} from '@model-gateway/contracts';
import { bearerOf } from '@model-gateway/http';
import { constantTimeEqual, describeError, type Log } from '@model-gateway/kernel';
import { AGENT_TUNNEL_PATH } from '@model-gateway/router';
import type { Exchange } from '@model-gateway/tunnel';
import type { NodeRegistry } from '../nodes/registry.ts';
import { exactly, relayedResponse, type RelayedResponse } from './relayed-response.ts';

/** Forwards the HTTP requests of gateways to the nodes that are connected to this process. */
export interface HttpRelay {
  /** Whether it handles the path. */
  accepts(path: string): boolean;
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

interface HttpRelayDependencies {
  readonly registry: Pick<NodeRegistry, 'get'>;
  readonly tunnelKey: string;
  readonly log: Log;
}

// Headers of this hop, and the credential of this process.
const NOT_FORWARDED = new Set([
  'authorization',
  'connection',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const TARGET = new RegExp(`^${AGENT_TUNNEL_PATH}/([^/]+)/([^/]+)(/.*)$`);

export function createHttpRelay({ registry, tunnelKey, log }: HttpRelayDependencies): HttpRelay {
  function open(request: IncomingMessage): Exchange {
    if (!constantTimeEqual(bearerOf(request) ?? '', tunnelKey))
      throw new ServiceError('authentication_required', 'invalid tunnel key');
    const { agentId, head } = targetOf(request);
    const session = registry.get(agentId);
    if (session === undefined)
      throw new ServiceError('agent_unavailable', 'the agent is not connected to this process');
    try {
      return session.openExchange(head);
    } catch (error) {
      throw new ServiceError('agent_unavailable', describeError(error), { cause: error });
    }
  }

  return {
    accepts: (path) => path.startsWith(`${AGENT_TUNNEL_PATH}/`),
    async handle(request, response) {
      const exchange = open(request);
      const { body } = exchange;
      response.once('close', () => {
        if (!response.writableFinished) body.destroy(new Error('the gateway disconnected'));
      });
      request.pipe(body, { end: true });
      let head: RelayedResponse;
      try {
        head = relayedResponse(headOf(await exchange.head));
      } catch (error) {
        body.destroy();
        throw new ServiceError('bad_gateway', describeError(error), { cause: error });
      }
      response.writeHead(head.status, [...head.headers]);
      response.flushHeaders();
      const { length } = head;
      const bounds = length === undefined ? [] : [exactly(length)];
      await pipeline([body, ...bounds, response]).catch((error: unknown) => {
        // The response has begun, so only a cut connection shows that it is incomplete.
        log.debug(
          { reason: describeError(error) },
          'a response through the tunnel was interrupted',
        );
        response.destroy();
      });
      // The response may be complete before the request is.
      if (!body.writableFinished) body.destroy();
    },
  };
}

function headOf(received: unknown): TunneledResponse {
  const head = tunneledResponseSchema.safeParse(received);
  if (!head.success) throw new Error('the agent sent a head that is not valid');
  return head.data;
}

function targetOf(request: IncomingMessage): {
  readonly agentId: string;
  readonly head: TunneledRequest;
} {
  const [, agentId = '', model = '', path = '/'] = TARGET.exec(request.url ?? '') ?? [];
  return {
    agentId,
    head: {
      model_id: decode(model),
      method: request.method ?? 'GET',
      path,
      headers: forwardedHeaders(request.rawHeaders),
    },
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The headers in their order and spelling, without those of this hop. */
function forwardedHeaders(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!NOT_FORWARDED.has(name.toLowerCase())) pairs.push([name, rawHeaders[at + 1] ?? '']);
  }
  return pairs;
}
