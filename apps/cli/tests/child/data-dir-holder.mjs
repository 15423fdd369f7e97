// Holds a data directory as the service does, and prints its port and then the bearer of each request.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { lockDataDir, publishAddress } from '@model-gateway/embedded';

const [, , dataDir] = process.argv;
await lockDataDir(dataDir);
const server = createServer((request, response) => {
  process.stdout.write(`${request.headers.authorization ?? 'none'}\n`);
  response.setHeader('content-type', 'application/json');
  response.end('{"backends":{"health":[]}}');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
await publishAddress(dataDir, { host: '127.0.0.1', port });
process.stdout.write(`${port}\n`);
