import { parseCommandLine } from './cli.ts';

test.each([
  { args: [], message: /^a command is required$/ },
  { args: ['dance'], message: /^unknown command "dance"$/ },
  { args: ['debug'], message: /^debug needs --port <port>$/ },
  { args: ['debug', '--port', 'x'], message: /^--port must be a number/ },
  { args: ['debug', '--port', ''], message: /^--port must be a number/ },
  { args: ['debug', '--port', '65536'], message: /^--port must be a number/ },
  { args: ['debug', '--port', '1', '--what'], message: /--what/ },
  { args: ['mcp', '--port', '1'], message: /^mcp needs --http with --port and --host$/ },
  { args: ['mcp', '--host', '::1'], message: /^mcp needs --http with --port and --host$/ },
  { args: ['mcp', '--http', '--port', '-1'], message: /--port/ },
  { args: ['mcp', '--http', '--port', '65536'], message: /^--port must be a number/ },
  { args: ['mcp', '--http', '--proxy', 'x'], message: /^--proxy must be/ },
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
  {
    args: ['mcp', '--http'],
    invocation: { kind: 'mcp-http', port: 8_091, host: '127.0.0.1', proxy: undefined },
  },
  {
    args: ['mcp', '--http', '--host', '0.0.0.0', '--port', '0', '--proxy', 'http://p:1'],
    invocation: { kind: 'mcp-http', port: 0, host: '0.0.0.0', proxy: 'http://p:1' },
  },
])('$args is $invocation.kind', ({ args, invocation }) => {
  expect(parseCommandLine(args)).toEqual(invocation);
});
