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

/** A command that serves on a port. */
export interface HttpInvocation {
  readonly kind: 'debug' | 'mcp-http';
  readonly port: number;
  readonly host: string;
  readonly proxy: string | undefined;
}

/** The parsed command line. */
export type Invocation =
  | { readonly kind: 'help' | 'version' }
  | HttpInvocation
  | { readonly kind: 'mcp'; readonly proxy: string | undefined }
  | { readonly kind: 'bundle'; readonly args: readonly string[] }
  | { readonly kind: 'problem'; readonly message: string };

const PORT_MAX = 65_535;
const MCP_PORT = '8091';
const LOOPBACK = '127.0.0.1';
const PROXY_SCHEMES = ['http:', 'https:', 'socks5:'];
const COMMON_OPTIONS = {
  port: { type: 'string' },
  host: { type: 'string' },
  proxy: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Reads the arguments after the program's name. */
export function parseCommandLine(args: readonly string[]): Invocation {
  // `pnpm start -- mcp` passes the dashes to the program.
  const [command, ...rest] = args[0] === '--' ? args.slice(1) : args;
  try {
    switch (command) {
      case '--help':
      case '-h':
      case 'help':
        return { kind: 'help' };
      case '--version':
      case '-V':
        return { kind: 'version' };
      case 'bundle':
        return { kind: 'bundle', args: rest };
      case 'debug':
        return parseDebug(rest);
      case 'mcp':
        return parseMcp(rest);
      case undefined:
        throw new Error('a command is required');
      default:
        throw new Error(`unknown command ${JSON.stringify(command)}`);
    }
  } catch (error) {
    return { kind: 'problem', message: (error as Error).message };
  }
}

function parseDebug(args: string[]): Invocation {
  const {
    port,
    host = LOOPBACK,
    proxy,
    help,
  } = parseArgs({ args, options: COMMON_OPTIONS }).values;
  if (help) return { kind: 'help' };
  if (port === undefined) throw new Error('debug needs --port <port>');
  return { kind: 'debug', port: checkedPort(port), host, proxy: checkedProxy(proxy) };
}

function parseMcp(args: string[]): Invocation {
  const options = { http: { type: 'boolean', default: false }, ...COMMON_OPTIONS } as const;
  const { http, port, host, proxy: given, help } = parseArgs({ args, options }).values;
  if (help) return { kind: 'help' };
  if (!http && (port ?? host) !== undefined)
    throw new Error('mcp needs --http with --port and --host');
  const proxy = checkedProxy(given);
  if (!http) return { kind: 'mcp', proxy };
  return { kind: 'mcp-http', port: checkedPort(port ?? MCP_PORT), host: host ?? LOOPBACK, proxy };
}

function checkedPort(given: string): number {
  if (/^\d+$/.test(given) && Number(given) <= PORT_MAX) return Number(given);
  throw new Error(`--port must be a number from 0 to ${PORT_MAX}, not ${JSON.stringify(given)}`);
}

function checkedProxy(proxy: string | undefined): string | undefined {
  if (proxy === undefined) return undefined;
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (url === undefined || !PROXY_SCHEMES.includes(url.protocol))
    throw new Error('--proxy must be an http://, https:// or socks5:// URL');
  if (url.protocol === 'socks5:' && url.username !== '')
    throw new Error(
      'browsers do not send passwords to socks5 proxies: use a proxy without a password, or an http proxy',
    );
  return proxy;
}
