// Forwards a request to an upstream with undici's dispatch, and its response as the bytes arrive.
import { createRequire } from 'node:module';

const CONNECTIONS_MAX = 2048;

// The same undici as our gateway.
const require = createRequire(new URL('../../../packages/backends/package.json', import.meta.url));
const { Pool } = require('undici');

/** Creates the function that forwards a body to a path of the upstream; `onDone` is called after the last byte. */
export function createForward(origin) {
  const pool = new Pool(origin, { connections: CONNECTIONS_MAX, pipelining: 1 });
  return (path, body, response, onDone = () => undefined) => {
    pool.dispatch(
      { path, method: 'POST', body, headers: { 'content-type': 'application/json' } },
      {
        onRequestStart() {},
        onResponseStart(_controller, status, headers) {
          response.writeHead(status, { 'content-type': headers['content-type'] });
        },
        onResponseData(controller, chunk) {
          if (response.write(chunk)) return;
          controller.pause();
          response.once('drain', () => controller.resume());
        },
        onResponseEnd() {
          onDone();
          response.end();
        },
        onResponseError() {
          response.destroy();
        },
      },
    );
  };
}
