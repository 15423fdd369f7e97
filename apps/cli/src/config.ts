import { userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** The environment as the process sees it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One environment variable, with its text in the configuration reference. */
interface DescribedSetting {
  readonly env: string;
  readonly description: string;
  readonly defaultText: string;
}

/** What the command line reads from its environment. The kernel's reader is not used: it would double the start time. */
export const processSettings = {
  url: {
    env: 'GATEWAY_URL',
    description: 'The service that the command line talks to; the option `--url` comes first.',
    defaultText: 'the one of the last `gateway login`, else `http://127.0.0.1:8080`',
  },
  adminToken: {
    env: 'GATEWAY_ADMIN_TOKEN',
    description: 'The admin token for commands that need it, instead of a stored one.',
    defaultText: 'unset',
  },
  apiKey: {
    env: 'GATEWAY_API_KEY',
    description: 'An API key that `gateway doctor` tries.',
    defaultText: 'unset',
  },
  configHome: {
    env: 'XDG_CONFIG_HOME',
    description:
      'The folder in which the command line keeps `model-gateway/credentials.json` (mode 0600).',
    defaultText: '`~/.config`',
  },
  dataDir: {
    env: 'SERVICE_DATA_DIR',
    description: 'Embedded stores, generated secrets, journals.',
    defaultText: '.data',
  },
} satisfies Readonly<Record<string, DescribedSetting>>;

export interface CliConfig {
  readonly url: string | undefined;
  readonly adminToken: string | undefined;
  readonly apiKey: string | undefined;
  /** The folder of the credentials. */
  readonly configDir: string;
  /** The data directory of a service on this machine. */
  readonly dataDir: string;
  /** For options that name a variable. */
  readonly environment: Environment;
}

/** Reads the environment; a blank variable counts as unset. */
export function readCliConfig(environment: Environment = process.env): CliConfig {
  const read = ({ env }: DescribedSetting): string | undefined => {
    const value = environment[env]?.trim();
    return value === '' ? undefined : value;
  };
  const given = environment['HOME']?.trim();
  // Never the current folder, which can be a repository: the file has secrets.
  const home = given === undefined || !isAbsolute(given) ? userInfo().homedir : given;
  return {
    url: read(processSettings.url),
    adminToken: read(processSettings.adminToken),
    apiKey: read(processSettings.apiKey),
    configDir: join(read(processSettings.configHome) ?? join(home, '.config'), 'model-gateway'),
    dataDir: resolve(read(processSettings.dataDir) ?? '.data'),
    environment,
  };
}
