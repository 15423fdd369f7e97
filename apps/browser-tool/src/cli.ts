import { parseArgs } from 'node:util';

/** The text of `--help`. */
export const USAGE = `Usage: browser-tool <command> [options]

A browser for AI agents and scripts.

Commands:
  debug --port <port>   serve the HTTP API on 127.0.0.1 (port 0 takes a free one)
        --proxy <url>   send the pages' traffic through an http, https or socks5 proxy
        --host <addr>   listen on another address; needs BROWSER_TOKEN and BROWSER_ALLOWED_HOSTS
  mcp                   speak the Model Context Protocol on standard input and output
        --proxy <url>   as above; BROWSER_DOWNLOAD_PROXY without it
        --http          serve it over HTTP instead, at http://127.0.0.1:8091/mcp
        --port <port>   with --http: another port (port 0 takes a free one)
        --host <addr>   with --http: another address; needs the variables above
  bundle [file]         report the shared libraries that a browser needs

Options:
  --help      this text
  --version   the version

Exit status: 0 on success, 1 if it could not start, 2 for invalid arguments.
`;

export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** The parsed command line. */
export type Invocation =
  | { readonly kind: 'help' | 'version' }
  | {
      readonly kind: 'debug';
      readonly port: number;
      readonly host: string;
      readonly proxy: string | undefined;
    }
  | { readonly kind: 'mcp'; readonly proxy: string | undefined }
  | {
      readonly kind: 'mcp-http';
      readonly port: number;
      readonly host: string;
      readonly proxy: string | undefined;
    }
  | { readonly kind: 'bundle'; readonly args: readonly string[] }
  | { readonly kind: 'problem'; readonly message: string };

const PORT_MAX = 65_535;
const MCP_PORT = '8091';
const LOOPBACK = '127.0.0.1';
const PROXY_SCHEMES = ['http:', 'https:', 'socks5:'];

/** Reads the arguments after the program's name. */
export function parseCommandLine(args: readonly string[]): Invocation {
  // `pnpm start -- mcp` passes the dashes to the program.
  const [command, ...rest] = args[0] === '--' ? args.slice(1) : args;
  if (command === undefined) return { kind: 'problem', message: 'a command is required' };
  if (command === '--help' || command === '-h' || command === 'help') return { kind: 'help' };
  if (command === '--version' || command === '-V') return { kind: 'version' };
  if (command === 'bundle') return { kind: 'bundle', args: rest };
  if (command !== 'debug' && command !== 'mcp') {
    return { kind: 'problem', message: `unknown command ${JSON.stringify(command)}` };
  }
  try {
    return command === 'debug' ? parseDebug(rest) : parseMcp(rest);
  } catch (error) {
    return { kind: 'problem', message: (error as Error).message };
  }
}

function parseDebug(args: readonly string[]): Invocation {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string' },
      host: { type: 'string', default: LOOPBACK },
      proxy: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return { kind: 'help' };
  if (values.port === undefined) return { kind: 'problem', message: 'debug needs --port <port>' };
  const { host, proxy } = values;
  const port = parsePort(values.port);
  return checkPort(port, values.port) ?? checkProxy(proxy) ?? { kind: 'debug', port, host, proxy };
}

function parseMcp(args: readonly string[]): Invocation {
  const { values } = parseArgs({
    args: [...args],
    options: {
      http: { type: 'boolean', default: false },
      port: { type: 'string' },
      host: { type: 'string' },
      proxy: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { http, port: given = MCP_PORT, host = LOOPBACK, proxy, help } = values;
  if (help) return { kind: 'help' };
  if (!http && (values.port ?? values.host) !== undefined) {
    return { kind: 'problem', message: 'mcp needs --http with --port and --host' };
  }
  const port = parsePort(given);
  return (
    checkPort(port, given) ??
    checkProxy(proxy) ??
    (http ? { kind: 'mcp-http', port, host, proxy } : { kind: 'mcp', proxy })
  );
}

function parsePort(given: string): number {
  return /^\d+$/.test(given) ? Number(given) : Number.NaN;
}

function checkPort(port: number, given: string): Invocation | undefined {
  if (port >= 0 && port <= PORT_MAX) return undefined;
  return {
    kind: 'problem',
    message: `--port must be a number from 0 to ${PORT_MAX}, not ${JSON.stringify(given)}`,
  };
}

function checkProxy(proxy: string | undefined): Invocation | undefined {
  if (proxy === undefined) return undefined;
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (url === undefined || !PROXY_SCHEMES.includes(url.protocol)) {
    return { kind: 'problem', message: '--proxy must be an http://, https:// or socks5:// URL' };
  }
  if (url.protocol === 'socks5:' && url.username !== '') {
    return {
      kind: 'problem',
      message:
        'browsers do not send passwords to socks5 proxies: use a proxy without a password, or an http proxy',
    };
  }
  return undefined;
}
