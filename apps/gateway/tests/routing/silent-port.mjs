// Listens on the port that is given and accepts nothing: once its queue is full, a connection gets no answer at all.
import { createServer } from 'node:net';

const server = createServer();
server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 1 }, () => {
  process.stdout.write('listening\n', () =>
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  );
});
