// A minimal proxy in Node: a node:http server and undici's dispatch, which forwards bytes unchanged.
//   node bare.mjs <port> <upstream origin>
import { createServer } from 'node:http';
import { createForward } from './forward.mjs';

const [port, origin] = process.argv.slice(2);
const forward = createForward(origin);

createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => forward(request.url, Buffer.concat(chunks), response));
}).listen(Number(port), '127.0.0.1');

process.once('SIGTERM', () => process.exit(0));
