import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { startPeerTimeout } from './peer-timeout.ts';

/** Keeps this process from reading its sockets and from running its timers. */
function stall(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

test('it fires once after its time, and not after a stop', async () => {
  let fired = 0;
  const stopped = startPeerTimeout(1, () => (fired += 100));
  stopped.stop();
  await new Promise<void>((resolve) => {
    startPeerTimeout(20, () => {
      fired += 1;
      resolve();
    });
  });
  await new Promise<void>((resolve) => {
    startPeerTimeout(40, resolve);
  });
  expect(fired).toBe(1);
});

test('refreshing begins the time limit again', async () => {
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    const first = startPeerTimeout(40, () => {
      order.push('first');
      resolve();
    });
    startPeerTimeout(40, () => order.push('second'));
    first.refresh();
  });
  expect(order).toEqual(['second', 'first']);
});

test('what arrived while this process did not run is read before the time is over', async () => {
  const accepted: Socket[] = [];
  const server = createServer((socket) =>
    accepted.push(socket.on('data', (data) => socket.write(data))),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const socket = connect(address.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('first');
  await once(socket, 'data');

  const order: string[] = [];
  socket.on('data', (data) => order.push(String(data)));
  const over = new Promise<void>((resolve) => {
    startPeerTimeout(200, () => {
      order.push('timeout');
      resolve();
    });
  });
  // The echo needs this process twice: what it is sent during the stall is read, and replied to, only afterwards.
  socket.write('second');
  stall(500);
  await over;
  expect(order).toEqual(['second', 'timeout']);
  socket.destroy();
  for (const each of accepted) each.destroy();
  server.close();
});
