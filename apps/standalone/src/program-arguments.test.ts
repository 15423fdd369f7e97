import { programOf, replyToArguments } from './program-arguments.ts';

test.each([
  { script: '/opt/node_modules/.bin/model-gateway', program: 'npx model-gateway' },
  { script: '/opt/model-gateway/bin/model-gateway.mjs', program: 'npx model-gateway' },
  { script: '/srv/project/scripts/start.mjs', program: 'npm start --' },
  { script: '/srv/project/dist/main.js', program: 'node dist/main.js' },
])('$script was called as $program', ({ script, program }) => {
  expect(programOf(script, '/srv/project')).toBe(program);
});

test('without arguments the service starts', () => {
  expect(replyToArguments([], 'gateway', '1.2.3')).toBeUndefined();
});

test.each([
  { args: ['--help'], status: 0, text: /^Model Gateway: .*run-it --version {3}shows/s },
  { args: ['-h'], status: 0, text: /SERVICE_PORT=8090/ },
  { args: ['--version'], status: 0, text: /^1\.2\.3\n$/ },
  { args: ['serve', '--help'], status: 2, text: /^unknown argument serve\n/ },
])('$args is answered with status $status', ({ args, status, text }) => {
  const reply = replyToArguments(args, 'run-it', '1.2.3');
  expect(reply?.status).toBe(status);
  expect(reply?.text).toMatch(text);
});
