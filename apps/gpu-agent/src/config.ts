import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  describeError,
  loadConfig,
  LOG_LEVELS,
  oneOf,
  optional,
  setting,
  StartupError,
  text,
  urlWith,
  withDefault,
  type ConfigOf,
  type Environment,
} from '@model-gateway/kernel';
import { z } from 'zod';
import { engineFileSchema, engineSchema, PRESET_NAMES, type EngineSpecs } from './engine-spec.ts';
import { AGENT_VERSION } from './version.ts';

/** Everything that the daemon reads from its environment; each has an option of the same meaning. */
export const processSettings = {
  url: setting('AGENT_URL', urlWith('http', 'https', 'ws', 'wss'), {
    description: 'The gateway that a GPU node dials in to.',
    defaultText: 'required',
  }),
  token: setting('AGENT_TOKEN', text(), {
    description: 'The token of a GPU node, as `agents.register` answered it.',
    defaultText: 'required',
    secret: true,
  }),
  engine: setting('AGENT_ENGINE', optional(oneOf(...PRESET_NAMES)), {
    description: `What runs models that the configuration file does not list: ${PRESET_NAMES.join(', ')}.`,
    defaultText: 'none',
  }),
  configFile: setting('AGENT_CONFIG', optional(text()), {
    description: 'A JSON file that says which models a GPU node can run, and how.',
    defaultText: 'none',
  }),
  advertisedHost: setting('AGENT_HOST', optional(text()), {
    description: 'Where gateways reach the models of a GPU node.',
    defaultText: 'the address that it connects from',
  }),
  listenHost: setting('AGENT_LISTEN', withDefault(text(), '127.0.0.1'), {
    description:
      'Where the models of a GPU node listen; on loopback they are reached through the tunnel alone.',
    defaultText: '127.0.0.1',
  }),
  logLevel: setting('AGENT_LOG_LEVEL', withDefault(oneOf(...LOG_LEVELS), 'info'), {
    description: `How much a GPU node logs: ${LOG_LEVELS.join(', ')}.`,
    defaultText: 'info',
  }),
};

/** What the daemon is made of; the URL is that of the gateway's WebSocket. */
export interface GpuAgentConfig extends Omit<
  ConfigOf<typeof processSettings>,
  'engine' | 'configFile'
> {
  readonly version: string;
  readonly engines: EngineSpecs;
  /** What engines are given of ours. */
  readonly environment: Readonly<Record<string, string>>;
}

export const USAGE = `Usage: gpu-agent --url <gateway> --token <token> [options]

Connects this machine to a Model Gateway and runs the models that it is asked for. Register the machine with
\`agents.register\`, which answers the token. Every option can be set by the environment instead.

  --url URL       AGENT_URL        the gateway, such as https://gateway.example.com
  --token TOKEN   AGENT_TOKEN      the token of this node; in the environment other users cannot see it
  --engine NAME   AGENT_ENGINE     what runs models: ${PRESET_NAMES.join(', ')}
  --config FILE   AGENT_CONFIG     which models can be run, and how (JSON)
  --listen HOST   AGENT_LISTEN     where models listen; 127.0.0.1 unless you say otherwise
  --host HOST     AGENT_HOST       where gateways reach them, if not at the address that this node connects from
  --log LEVEL     AGENT_LOG_LEVEL  ${LOG_LEVELS.join(', ')}
  --version
  --help
`;

const AGENT_PATH = '/ws/agent';
const FLAGS = {
  url: 'AGENT_URL',
  token: 'AGENT_TOKEN',
  engine: 'AGENT_ENGINE',
  config: 'AGENT_CONFIG',
  listen: 'AGENT_LISTEN',
  host: 'AGENT_HOST',
  log: 'AGENT_LOG_LEVEL',
} as const;

/** What the command line asks for besides running. */
export type Asked = 'help' | 'version' | undefined;

interface CommandLine {
  readonly asked: Asked;
  readonly environment: Environment;
}

/** Reads the command line: options stand for the variables that they are named after. */
export function readCommandLine(
  args: readonly string[] = process.argv.slice(2),
  environment: Environment = process.env,
): CommandLine {
  const option = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      // Package managers pass the `--` on that parts their own options from ours.
      args: args.filter((argument) => argument !== '--'),
      options: {
        url: option,
        token: option,
        engine: option,
        config: option,
        listen: option,
        host: option,
        log: option,
        help: { type: 'boolean' },
        version: { type: 'boolean' },
      },
    });
    const given = Object.entries(FLAGS).flatMap(([flag, env]) => {
      const value = values[flag as keyof typeof FLAGS];
      return value === undefined ? [] : [[env, value] as const];
    });
    const asked = values.help === true ? 'help' : values.version === true ? 'version' : undefined;
    return { asked, environment: { ...environment, ...Object.fromEntries(given) } };
  } catch (error) {
    throw new StartupError(`${describeError(error)}\n\n${USAGE}`);
  }
}

/** Reads the whole configuration; every problem in one message. */
export function readGpuAgentConfig(environment: Environment): GpuAgentConfig {
  const { configFile, engine, url, ...config } = loadConfig(processSettings, environment);
  const file = configFile === undefined ? { models: {} } : readEngineFile(configFile);
  const byName = engine === undefined ? undefined : engineSchema.parse({ preset: engine });
  return {
    ...config,
    url: socketUrl(url),
    version: AGENT_VERSION,
    engines: { ...file, default: byName ?? file.default },
    environment: environmentOfEngines(environment),
  };
}

function readEngineFile(path: string): EngineSpecs {
  try {
    return engineFileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : describeError(error);
    throw new StartupError(`the configuration file ${path} cannot be used: ${why}`);
  }
}

/** The address of the tunnel at a gateway, of which people know the base URL. */
function socketUrl(base: string): string {
  const url = new URL(base);
  url.protocol = url.protocol.replace('http', 'ws');
  if (!url.pathname.endsWith(AGENT_PATH))
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${AGENT_PATH}`;
  return url.href;
}

/** Everything but what is ours: an engine has no business with the token. */
function environmentOfEngines(environment: Environment): Readonly<Record<string, string>> {
  const ours = new Set<string>(Object.values(FLAGS));
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || ours.has(name) ? [] : [[name, value] as const],
    ),
  );
}
