import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Part } from '@model-gateway/kernel';
import type { OriginRules } from '../requests/origins.ts';

/** A server app without a port: its process opens the port, for one app or for several. */
export interface ServerApp extends Part {
  /** The paths that it serves besides the probes; `/v1/models/{id}` matches everything below `/v1/models/`. */
  readonly routes: readonly string[];
  /** From where web pages may call it. */
  readonly origins?: OriginRules;
  /** The routes that send every response through `beginResponse`, which adds the request id. */
  readonly leanPaths?: ReadonlySet<string>;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Handles a WebSocket upgrade; absent where the app has no WebSockets. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

const WITH_ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * Leaves the path and the query of what a request asks for. Some proxies send the whole URL. One slash at the end of the path
 * is removed, so that `/v1/models/` is `/v1/models`.
 */
export function simplifyTarget(request: IncomingMessage): void {
  let target = request.url ?? '/';
  if (!target.startsWith('/') && WITH_ORIGIN.test(target)) {
    target = target.replace(WITH_ORIGIN, '');
    if (!target.startsWith('/')) target = `/${target}`;
    request.url = target;
  }
  const query = target.indexOf('?');
  const end = query === -1 ? target.length : query;
  if (end < 2 || target[end - 1] !== '/') return;
  request.url = target.slice(0, end - 1) + target.slice(end);
}

/** The path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  const target = request.url ?? '/';
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
