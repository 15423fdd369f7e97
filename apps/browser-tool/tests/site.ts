import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a path answers: a page, or whatever a handler does. */
export type Route = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** A little web site on this machine, under two names that browsers take for two sites. */
export interface Site {
  readonly port: number;
  readonly url: string;
  /** The same pages as another site, whose frames live in another process. */
  readonly otherUrl: string;
  /** The paths that were asked for. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** Serves routes by their path. */
export async function startSite(routes: Readonly<Record<string, Route>>): Promise<Site> {
  const requests: string[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    requests.push(pathname);
    const route = routes[pathname];
    if (typeof route === 'function') {
      route(request, response);
      return;
    }
    response.statusCode = route === undefined ? 404 : 200;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(route ?? '<title>Nothing here</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    otherUrl: `http://localhost:${port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A page with this body. */
export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><title>${title}</title><link rel="icon" href="data:,"></head><body>${body}</body></html>`;
}
