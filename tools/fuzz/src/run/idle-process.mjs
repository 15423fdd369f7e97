// The control for stalls: a process that does nothing but answer.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume();
  response.end('ok');
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
// It ends with its parent.
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
