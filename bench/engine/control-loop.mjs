// A control loop: calls at a fixed rate over one WebSocket, without waiting for responses, and measures each.
import { once } from 'node:events';
import { createRequire } from 'node:module';

const { WebSocket } = createRequire(new URL('../../apps/rpc/package.json', import.meta.url))('ws');

const CALL_TIMEOUT_MS = 5_000;

/** Opens a JSON-RPC connection to call over. */
export async function connect(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const waiting = new Map();
  let lastId = 0;
  socket.on('message', (data) => {
    const { id, result, error } = JSON.parse(data.toString());
    const settle = waiting.get(id);
    waiting.delete(id);
    settle?.(error === undefined ? { result } : { error });
  });
  await once(socket, 'open');

  function call(method, params) {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        waiting.delete(id);
        resolve({ error: { message: 'no answer' } });
      }, CALL_TIMEOUT_MS);
      waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }
  return { call, close: () => socket.terminate() };
}

/** Calls `hertz` times per second for `durationMs`; returns the latencies in milliseconds and the number of failed calls. */
export async function runLoop({ call, hertz, durationMs, signal }) {
  const times = [];
  let failed = 0;
  const calls = [];
  const began = performance.now();
  for (let tick = 0; tick < (durationMs / 1000) * hertz; tick += 1) {
    await until(began + (tick * 1000) / hertz, signal);
    calls.push(timed(tick));
  }
  async function timed(tick) {
    const sent = performance.now();
    const { error } = await call(tick);
    if (error === undefined) times.push(performance.now() - sent);
    else failed += 1;
  }
  await Promise.all(calls);
  return { times, failed };
}

async function until(moment, signal) {
  signal.throwIfAborted();
  const wait = moment - performance.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}
