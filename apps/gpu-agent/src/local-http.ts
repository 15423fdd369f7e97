import { request as startRequest, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { tunneledRequestSchema, type TunneledRequest } from '@model-gateway/contracts';
import { describeError, type Log } from '@model-gateway/kernel';
import type { Exchange } from '@model-gateway/tunnel';
import { addressOf } from './engine.ts';

/** Sends the HTTP requests from the tunnel to the models of this node, and to no other address. */
export interface LocalHttp {
  serve(head: unknown, exchange: Exchange): void;
}

interface LocalHttpDependencies {
  readonly portOf: (modelId: string) => number | undefined;
  readonly host: string;
  readonly log: Log;
}

const HOP_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);

export function createLocalHttp({ portOf, host, log }: LocalHttpDependencies): LocalHttp {
  async function forward(head: TunneledRequest, exchange: Exchange): Promise<void> {
    const port = portOf(head.model_id);
    if (port === undefined) throw new Error('the model does not run on this node');
    const { body } = exchange;
    const request = startRequest(`${addressOf(host, port)}${head.path}`, {
      // A new connection per request: the engine might close a reused one at the wrong moment.
      agent: false,
      method: head.method,
      headers: headersOf(head),
    });
    body.once('close', () => request.destroy());
    const responding = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.once('error', reject);
    });
    body.pipe(request);
    const response = await responding;
    exchange.respond({ status: response.statusCode ?? 0, headers: pairsOf(response.rawHeaders) });
    await pipeline(response, body);
  }

  return {
    serve(head, exchange) {
      const parsed = tunneledRequestSchema.safeParse(head);
      const done = parsed.success
        ? forward(parsed.data, exchange)
        : Promise.reject(new Error('invalid request head'));
      done.catch((error: unknown) => {
        log.debug({ reason: describeError(error) }, 'a request through the tunnel failed');
        exchange.body.destroy(new Error(describeError(error)));
      });
    },
  };
}

function headersOf({ headers }: TunneledRequest): Record<string, string[]> {
  const byName: Record<string, string[]> = {};
  for (const [name, value] of headers) (byName[name] ??= []).push(value);
  return byName;
}

function pairsOf(rawHeaders: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!HOP_HEADERS.has(name.toLowerCase())) pairs.push([name, rawHeaders[at + 1] ?? '']);
  }
  return pairs;
}
