import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Part } from '@model-gateway/kernel';

/** A server app without a port: whoever runs it gives it one, alone or shared with others. */
export interface ServerApp extends Part {
  /** The paths that it answers beside the probes; `/v1/models/{id}` stands for everything below `/v1/models/`. */
  readonly routes: readonly string[];
  /** Those of them whose answers bring the id of their request along by themselves: all that they use is `beginAnswer`. */
  readonly leanPaths?: ReadonlySet<string>;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Takes over a connection that asks for a WebSocket; absent where the app has none. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** The path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  const target = request.url ?? '/';
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
