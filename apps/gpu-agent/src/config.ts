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

/** The environment variables of the daemon; each has a command-line option with the same meaning. */
export const processSettings = {
  url: setting('AGENT_URL', urlWith('http', 'https', 'ws', 'wss'), {
    description: 'The URL of the gateway that a GPU node connects to.',
    defaultText: 'required',
  }),
  token: setting('AGENT_TOKEN', text(), {
    description: 'The token of a GPU node, from the result of `agents.register`.',
    defaultText: 'required',
    secret: true,
  }),
  engine: setting('AGENT_ENGINE', optional(oneOf(...PRESET_NAMES)), {
    description: `The engine for models that the configuration file does not list: ${PRESET_NAMES.join(', ')}.`,
    defaultText: 'none',
  }),
  configFile: setting('AGENT_CONFIG', optional(text()), {
    description: 'A JSON file with the models that a GPU node can run, and how it runs them.',
    defaultText: 'none',
  }),
  advertisedHost: setting('AGENT_HOST', optional(text()), {
    description:
      'The host name or address at which gateways reach the models of a GPU node; an admin must have allowed it at `agents.register`.',
    defaultText: 'the address that it connects from',
  }),
  listenHost: setting('AGENT_LISTEN', withDefault(text(), '127.0.0.1'), {
    description:
      'The address on which the models of a GPU node listen; on loopback they are reached only through the tunnel.',
  }),
  logLevel: setting('AGENT_LOG_LEVEL', withDefault(oneOf(...LOG_LEVELS), 'info'), {
    description: `The log level of a GPU node: ${LOG_LEVELS.join(', ')}.`,
  }),
};

/** The configuration of the daemon; the URL is the WebSocket URL of the gateway. */
export interface GpuAgentConfig extends Omit<
  ConfigOf<typeof processSettings>,
  'engine' | 'configFile'
> {
  readonly version: string;
  readonly engines: EngineSpecs;
  /** The environment for engines. */
  readonly environment: Readonly<Record<string, string>>;
}

export const USAGE = `Usage: gpu-agent --url <gateway> --token <token> [options]

Connects this machine to a Model Gateway and runs the models that are deployed on it. Register the machine with
\`agents.register\`, which returns the token. Every option can also be set as an environment variable.

  --url URL       AGENT_URL        the gateway, such as https://gateway.example.com
  --token TOKEN   AGENT_TOKEN      the token of this node; other users of the machine cannot see the variable
  --engine NAME   AGENT_ENGINE     the engine that runs models: ${PRESET_NAMES.join(', ')}
  --config FILE   AGENT_CONFIG     a JSON file with the models that can be run, and how
  --listen HOST   AGENT_LISTEN     the address on which models listen; default 127.0.0.1
  --host HOST     AGENT_HOST       where gateways reach them; default: the address that this node connects from
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

/** An option that prints information instead of starting the daemon. */
export type InfoFlag = 'help' | 'version' | undefined;

interface CommandLine {
  readonly infoFlag: InfoFlag;
  readonly environment: Environment;
}

/** Parses the command line; each option sets its environment variable. */
export function readCommandLine(
  args: readonly string[] = process.argv.slice(2),
  environment: Environment = process.env,
): CommandLine {
  const option = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      // Package managers pass on the `--` that separates their options from these.
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
    const infoFlag =
      values.help === true ? 'help' : values.version === true ? 'version' : undefined;
    return { infoFlag, environment: { ...environment, ...Object.fromEntries(given) } };
  } catch (error) {
    throw new StartupError(`${describeError(error)}\n\n${USAGE}`);
  }
}

/** Reads the whole configuration; one message names every problem. */
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
    throw new StartupError(`the configuration file ${path} is invalid: ${why}`);
  }
}

/** The WebSocket URL of the tunnel, from the base URL of the gateway. */
function socketUrl(base: string): string {
  const url = new URL(base);
  url.protocol = url.protocol.replace('http', 'ws');
  if (!url.pathname.endsWith(AGENT_PATH))
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${AGENT_PATH}`;
  return url.href;
}

/** Everything except the variables of the daemon: an engine must not see the token. */
function environmentOfEngines(environment: Environment): Readonly<Record<string, string>> {
  const ownNames = new Set<string>(Object.values(FLAGS));
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || ownNames.has(name) ? [] : [[name, value] as const],
    ),
  );
}
