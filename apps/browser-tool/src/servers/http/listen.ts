import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeError, errorCode, StartupError } from '@model-gateway/kernel';

// Longer than clients leave a connection idle, so that none sends a request on one that is being closed.
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
}

/** Starts listening, and returns the port. */
export async function listen(server: Server, { host, port }: ListenAddress): Promise<number> {
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, { host, port })));
    server.listen(port, host, resolve);
  });
  return portOf(server);
}

/** The port of a server that listens. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Closes all connections and stops listening. */
export async function stopListening(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** The URL of a server for clients on this machine. */
export function urlOf({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function listenError(error: Error, { host, port }: ListenAddress): StartupError {
  const advice =
    errorCode(error) === 'EADDRINUSE'
      ? '; another program uses the port: choose another with --port, or a free one with --port 0'
      : '';
  return new StartupError(`cannot listen on ${host}:${port}: ${describeError(error)}${advice}`);
}
