import { arch, homedir, platform } from 'node:os';
import type { BundleConfig } from '@model-gateway/browser-bundle';
import {
  createLog,
  flag,
  integer,
  list,
  loadConfig,
  LOG_LEVELS,
  oneOf,
  optional,
  setting,
  text,
  withDefault,
  type Environment,
  type Log,
} from '@model-gateway/kernel';
import { resolveConfigFrom, resolveSettings } from './resolve/index.ts';

const TABS_DEFAULT = 20;
const TABS_LIMIT = 1_000;
const MCP_SESSIONS_DEFAULT = 10;
const MCP_SESSIONS_LIMIT = 1_000;
const MCP_IDLE_SECS_DEFAULT = 1_800;
const MCP_IDLE_SECS_LIMIT = 604_800;

const origins = list()
  .refine(
    (entries) => entries.every(isOrigin),
    'origins such as https://example.com, separated by commas',
  )
  .transform((entries) => entries.map((entry) => new URL(entry).origin));

function isOrigin(entry: string): boolean {
  return URL.canParse(entry) && /^https?:$/.test(new URL(entry).protocol);
}

/** Which shared libraries are shipped with the tool. */
const bundleSettings = {
  bundleLibs: setting('BROWSER_BUNDLE_LIBS', optional(text()), {
    description:
      'Shared libraries to ship, separated as in PATH; the build copies them to `dist/lib`.',
    defaultText: 'none',
  }),
  bundleManifest: setting('BROWSER_BUNDLE_MANIFEST', optional(text()), {
    description:
      'A TOML file of `[[lib]]` tables (`path`, `optional`, `target_os`) with more libraries to ship.',
    defaultText: 'none',
  }),
};

/** All settings of the tool. */
export const processSettings = {
  startUrl: setting('BROWSER_URL', withDefault(text(), 'about:blank'), {
    description: 'The page that the browser opens at its start.',
    defaultText: '`about:blank`',
  }),
  allowFile: setting('BROWSER_ALLOW_FILE', withDefault(flag(), false), {
    description: 'Whether `file:` addresses may be opened.',
    defaultText: '`false`',
  }),
  allowedOrigins: setting('BROWSER_ALLOWED_ORIGINS', withDefault(origins, []), {
    description:
      'The origins that pages may load, including redirects and sub-resources; unset allows all.',
    defaultText: 'all',
  }),
  sandbox: setting('BROWSER_SANDBOX', withDefault(oneOf('auto', 'required'), 'auto'), {
    description:
      'Whether the browser may run without its sandbox where the sandbox does not work (`auto`) or not (`required`).',
  }),
  tabsMax: setting('BROWSER_TABS_MAX', withDefault(integer(1, TABS_LIMIT), TABS_DEFAULT), {
    description: 'How many tabs a browser may have; further ones are closed at once.',
  }),
  token: setting('BROWSER_TOKEN', optional(text()), {
    description:
      'The bearer token that every request to `debug` and `mcp --http` must carry; required off loopback.',
    defaultText: 'none',
    secret: true,
  }),
  allowedHosts: setting('BROWSER_ALLOWED_HOSTS', withDefault(list(), []), {
    description:
      'Host names, besides loopback, that `debug` and `mcp --http` accept; required off loopback.',
    defaultText: 'none',
  }),
  mcpSessionsMax: setting(
    'BROWSER_MCP_SESSIONS_MAX',
    withDefault(integer(1, MCP_SESSIONS_LIMIT), MCP_SESSIONS_DEFAULT),
    {
      description:
        'How many clients `mcp --http` serves at the same time; each has a browser of its own.',
    },
  ),
  mcpIdleSecs: setting(
    'BROWSER_MCP_IDLE_SECS',
    withDefault(integer(1, MCP_IDLE_SECS_LIMIT), MCP_IDLE_SECS_DEFAULT),
    {
      description:
        'After how many seconds without an open connection `mcp --http` ends a session and its browser.',
    },
  ),
  logLevel: setting('BROWSER_LOG_LEVEL', withDefault(oneOf(...LOG_LEVELS), 'warn'), {
    description: 'The lowest level that is logged, to standard error.',
    defaultText: '`warn`',
  }),
  ...resolveSettings,
  ...bundleSettings,
};

/** The configuration of the tool. */
export type BrowserToolConfig = ReturnType<typeof readBrowserToolConfig>;

/** Reads the configuration of a process of the browser tool. */
export function readBrowserToolConfig(environment: Environment = process.env) {
  const config = loadConfig(processSettings, environment);
  const machine = {
    os: platform(),
    architecture: arch(),
    home: homedir(),
    executable: process.execPath,
  };
  return {
    ...config,
    resolve: resolveConfigFrom(config, environment, machine),
    // npm and pnpm run scripts in the package's folder and set this to the caller's folder.
    workingDirectory: environment['INIT_CWD'] ?? process.cwd(),
  };
}

/** The log of the tool goes to standard error, because standard output belongs to its protocol. */
export function createToolLog({ logLevel }: Pick<BrowserToolConfig, 'logLevel'>): Log {
  const destination = { write: (line: string) => void process.stderr.write(line) };
  return createLog({ level: logLevel, app: 'browser-tool', destination });
}

/** Reads only the lists of libraries to ship. */
export function readBundleConfig(environment: Environment = process.env): BundleConfig {
  const config = loadConfig(bundleSettings, environment);
  return { ...config, workingDirectory: environment['INIT_CWD'] ?? process.cwd() };
}
