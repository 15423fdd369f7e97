import { ServiceError } from '@model-gateway/contracts';
import { describeError } from '@model-gateway/kernel';
import { z } from 'zod';
import { openRpcSocket } from '../json-rpc/rpc-socket.ts';
import { upstreamFailed } from '../errors/upstream-error.ts';

/** The target of a bridge URL. */
export interface BridgeTarget {
  readonly node: string;
  readonly service: string;
}

interface ResolveOptions {
  /** The local bridge agent. */
  readonly bridgeUrl: string;
  readonly timeoutMs: number;
}

const connectedSchema = z.looseObject({ local_port: z.int().min(1).max(65_535) });

/** The target of a `bridge://<node>/<service>` URL. */
export function bridgeTarget(url: URL): BridgeTarget {
  const service = /^\/([^/]+)\/?$/.exec(url.pathname)?.[1];
  if (service === undefined) {
    throw new ServiceError('bad_url', 'a bridge URL has the form bridge://<node>/<service>');
  }
  return { node: url.host, service: decodeURIComponent(service) };
}

/** Requests a tunnel from the bridge agent and returns its local port. */
export async function resolveBridge(
  target: BridgeTarget,
  { bridgeUrl, timeoutMs }: ResolveOptions,
): Promise<number> {
  try {
    const socket = await openRpcSocket({ url: bridgeUrl, connectTimeoutMs: timeoutMs });
    try {
      return await socket.call('Bridge.Connect', target, {
        signal: new AbortController().signal,
        timeoutMs,
        read: localPort,
      });
    } finally {
      socket.close();
    }
  } catch (error) {
    const { node, service } = target;
    const reason = `the bridge to ${node}/${service} cannot be reached: ${describeError(error)}`;
    throw new ServiceError('bridge_unreachable', reason, { cause: error });
  }
}

function localPort(result: unknown): number {
  const connected = connectedSchema.safeParse(result);
  if (!connected.success) throw upstreamFailed('the bridge agent named no local port');
  return connected.data.local_port;
}
