import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Certificate } from './certificate.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A little server in the place of the one that browsers come from. */
export interface Mirror {
  readonly url: string;
  readonly port: number;
  /** The paths that were asked for. */
  readonly requests: readonly string[];
  /** Answers from now on with this. */
  answer(next: Answer): void;
  close(): Promise<void>;
}

/** Serves an archive under every path, over TLS where it has a certificate. */
export async function startMirror(archive: Buffer, certificate?: Certificate): Promise<Mirror> {
  const requests: string[] = [];
  let answer: Answer = (response) => response.end(archive);
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push(request.url ?? '');
    answer(response, request);
  };
  const server =
    certificate === undefined
      ? createHttpServer(listener)
      : createHttpsServer({ key: certificate.key, cert: certificate.certificate }, listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    answer: (next) => {
      answer = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
