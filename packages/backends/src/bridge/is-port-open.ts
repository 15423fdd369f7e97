import { connect } from 'node:net';

const LOCAL_HOST = '127.0.0.1';

/** Whether something accepts connections on a local port. */
export function isPortOpen(port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: LOCAL_HOST, port, timeout: timeoutMs });
    const settle = (answers: boolean): void => {
      socket.destroy();
      resolve(answers);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}
