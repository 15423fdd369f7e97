import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { readUpload } from '../uploads/read-upload.ts';
import { readBody } from './read-json.ts';

const BYTES_MAX = 1_000;
const files = { create: () => Promise.reject(new Error('there is no file')) };
const FORM_TYPE = 'multipart/form-data; boundary=b';

const READERS = [
  { what: 'a body', read: (request: IncomingMessage) => readBody(request, BYTES_MAX) },
  {
    what: 'a form',
    read: (request: IncomingMessage) =>
      readUpload(request, { bytesMax: BYTES_MAX, files, owner: 'ann', decisive: ['model'] }),
  },
];

describe.each(READERS)('reading $what of a client that has already left', ({ read }) => {
  test.each([
    { how: 'in the middle of it', bytes: 100 },
    { how: 'after all of it', bytes: 4 },
  ])('fails: $how', async ({ bytes }) => {
    const server = createServer({ keepAliveTimeout: 0 });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const head = `host: a\r\ncontent-type: ${FORM_TYPE}\r\ncontent-length: ${bytes}`;
    socket.write(`POST / HTTP/1.1\r\n${head}\r\n\r\n--b\r`);
    const [request] = (await once(server, 'request')) as [IncomingMessage];
    request.on('error', () => undefined);
    const closed = new Promise((resolve) => request.once('close', resolve));
    socket.destroy();
    await closed;
    await expect(read(request)).rejects.toThrow('the client disconnected');
    server.close();
  });
});
