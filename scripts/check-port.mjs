// Checks the port of `npm start` before anything is installed or built.
import { createServer } from 'node:net';
import { startProblem } from './start-problems.mjs';

const HOST_DEFAULT = '127.0.0.1';
const PORT_DEFAULT = '8080';

/**
 * Resolves to the reason why the service could not listen, or undefined. Values that are no port are left to the service, which
 * checks all of its settings.
 *
 * @param {Readonly<Record<string, string | undefined>>} environment
 * @returns {Promise<string | undefined>}
 */
export function portProblem(environment) {
  const host = environment.SERVICE_HOST || HOST_DEFAULT;
  const port = Number(environment.SERVICE_PORT || PORT_DEFAULT);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }) => resolve(explain(code, host, port)));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

function explain(code, host, port) {
  if (code === 'EADDRINUSE') {
    const other = port < 65_535 ? port + 1 : port - 1;
    return startProblem('port_in_use', { host, port, other });
  }
  if (code === 'EACCES') {
    return startProblem('port_forbidden', { host, port, other: PORT_DEFAULT });
  }
  return undefined;
}
