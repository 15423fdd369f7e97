import { parseCommandLine } from './cli.ts';

test.each([
  { args: [], message: /^a command is required$/ },
  { args: ['dance'], message: /^unknown command "dance"$/ },
  { args: ['debug'], message: /^debug needs --port <port>$/ },
  { args: ['debug', '--port', 'x'], message: /^--port must be a number/ },
  { args: ['debug', '--port', ''], message: /^--port must be a number/ },
  { args: ['debug', '--port', '65536'], message: /^--port must be a number/ },
  { args: ['debug', '--port', '1', '--what'], message: /--what/ },
  { args: ['mcp', '--proxy', 'ftp://x'], message: /^--proxy must be/ },
])('$args is refused', ({ args, message }) => {
  expect(parseCommandLine(args)).toEqual({
    kind: 'problem',
    message: expect.stringMatching(message),
  });
});

test.each([
  { args: ['--help'], invocation: { kind: 'help' } },
  { args: ['debug', '--help'], invocation: { kind: 'help' } },
  { args: ['--version'], invocation: { kind: 'version' } },
  {
    args: ['--', 'debug', '--port', '65535'],
    invocation: { kind: 'debug', port: 65_535, host: '127.0.0.1', proxy: undefined },
  },
  {
    args: ['mcp', '--proxy', 'socks5://127.0.0.1:1'],
    invocation: { kind: 'mcp', proxy: 'socks5://127.0.0.1:1' },
  },
])('$args is $invocation.kind', ({ args, invocation }) => {
  expect(parseCommandLine(args)).toEqual(invocation);
});
