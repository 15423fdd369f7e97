import type { Command } from 'commander';
import { CliError, EXIT_FAILED, EXIT_OK } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { duration } from '../output/format.ts';
import { oneLine } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { isObject, RestError, type RestRequest } from '../service/rest.ts';
import type { BackendList, BackendTest, ListedBackend } from '../service/listed-backend.ts';
import { readSecret } from '../terminal.ts';
import { collected, wholeNumber } from './arguments.ts';
import { BACKEND_KINDS } from './backend-kinds.ts';

const PATH = '/api/admin/backends';
const NOT_FOUND = 404;
const LIMIT_MAX = 1_000_000_000;

const limit = (option: string) => wholeNumber(option, 1, LIMIT_MAX);

const NAME_CHARS = Math.max(...BACKEND_KINDS.map(([name]) => name.length));
const KINDS = BACKEND_KINDS.map(
  ([name, purpose]) => `  ${name.padEnd(NAME_CHARS)}  ${purpose}`,
).join('\n');

interface AddOptions {
  readonly type: string;
  readonly apiKeyStdin?: boolean;
  readonly apiKeyEnv?: readonly string[];
  readonly authHeader?: string;
  readonly model?: readonly string[];
  readonly capability?: readonly string[];
  readonly dialect?: readonly string[];
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
  readonly tokensPerDay?: number;
  readonly replace?: boolean;
}

export function addBackendCommands(program: Command, run: Runner): void {
  const backends = program
    .command('backends')
    .summary('add, list, test and remove backends')
    .description('The servers behind the gateway. Needs the admin token.')
    .helpCommand(false);
  backends
    .command('add')
    .summary('register a backend')
    .description(
      'Register a backend and ask it for its models. The exit status is 1 if it is not healthy then;\n' +
        'it is registered nevertheless.',
    )
    .argument('<name>', 'a name for it')
    .argument('<address>', 'its URL')
    .option('--type <kind>', BACKEND_KINDS.map(([name]) => name).join(', '), 'external')
    .option('--api-key-stdin', 'read its API key from standard input')
    .option(
      '--api-key-env <variable>',
      'the environment variable that has its API key; may be repeated for several keys',
      collected,
    )
    .option('--auth-header <header>', 'the header of its key, unless it is authorization: Bearer')
    .option('--model <id>', 'a model that it serves; may be repeated', collected)
    .option('--replace', 'change the backend that has this name already')
    .option('--capability <name>', 'chat, embeddings, video, …; may be repeated', collected)
    .option('--dialect <name>', 'responses, if it speaks the Responses API too', collected)
    .option('--rpm <requests>', 'requests per minute that it may be sent', limit('--rpm'))
    .option('--tpm <tokens>', 'tokens per minute', limit('--tpm'))
    .option('--concurrency <requests>', 'requests at the same time', limit('--concurrency'))
    .option('--tokens-per-day <tokens>', 'tokens per day (UTC)', limit('--tokens-per-day'))
    .addHelpText(
      'after',
      `
Kinds:
${KINDS}

Examples:
  gateway backends add openai https://api.openai.com --api-key-env OPENAI_API_KEY
  gateway backends add ollama http://127.0.0.1:11434 --type local-server
  gateway backends add vllm http://10.0.0.5:8000 --model qwen2.5-7b --concurrency 8`,
    )
    .action(run(addBackend));
  backends
    .command('list')
    .summary('list the backends and their health')
    .description('List the backends, their health and how many models they serve.')
    .addHelpText('after', '\nExample:\n  gateway backends list --json')
    .action(run(listBackends));
  backends
    .command('test')
    .summary('probe a backend and send one tiny chat')
    .description('Probe a backend, send one tiny chat, and say what happened.')
    .argument('<name>', 'the name of the backend')
    .option('--model <id>', 'the model to chat with')
    .addHelpText('after', '\nExample:\n  gateway backends test openai')
    .action(run(testBackend));
  backends
    .command('remove')
    .summary('remove a backend')
    .description('Remove a backend. Requests that run on it finish.')
    .argument('<name>', 'the name of the backend')
    .addHelpText('after', '\nExample:\n  gateway backends remove openai')
    .action(run(removeBackend));
}

async function addBackend(
  context: CommandContext,
  name: string,
  address: string,
  options: AddOptions,
): Promise<Answer> {
  const { service } = context;
  const isTaken = (await listed(context)).some((backend) => backend.name === name);
  if (isTaken && options.replace !== true) {
    throw new CliError(
      'usage',
      `there is a backend ${JSON.stringify(name)} already`,
      'Choose another name, or change it with --replace.',
    );
  }
  const keys = await keysOf(context, options);
  const added = await service.requestAsAdmin({
    method: 'POST',
    path: PATH,
    body: {
      name,
      url: address,
      type: options.type,
      ...keys,
      ...(options.authHeader === undefined ? {} : { auth_header: options.authHeader }),
      ...(options.model === undefined ? {} : { models: options.model }),
      ...(options.capability === undefined ? {} : { capabilities: options.capability }),
      ...(options.dialect === undefined ? {} : { dialects: options.dialect }),
      ...limitsOf(options),
    },
  });
  const backend = (await listed(context)).find((one) => one.name === name);
  return {
    json: { ...(isObject(added) ? added : {}), backend: backend ?? null },
    text: `Registered ${oneLine(name)}${backend === undefined ? '' : `: ${stateOf(backend)}`}.`,
    ...(backend?.state === 'Healthy'
      ? {}
      : { note: `Find out why: gateway backends test ${name}`, exitStatus: EXIT_FAILED }),
  };
}

/** The limits of the backend; nothing if there are none. */
function limitsOf({ rpm, tpm, concurrency, tokensPerDay }: AddOptions) {
  const limits = { rpm, tpm, concurrency, tokens_per_day: tokensPerDay };
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return given.length === 0 ? {} : { limits: Object.fromEntries(given) };
}

/** The keys of the backend; never an argument, which other users of the machine can see. */
async function keysOf(
  { terminal, config }: CommandContext,
  { apiKeyStdin, apiKeyEnv }: AddOptions,
): Promise<object> {
  if (apiKeyStdin === true && apiKeyEnv !== undefined) {
    throw new CliError(
      'usage',
      'both --api-key-stdin and --api-key-env are given',
      'Use one of them.',
    );
  }
  if (apiKeyStdin === true) return { api_key: await readSecret(terminal, 'api key') };
  if (apiKeyEnv === undefined) return {};
  const keys = apiKeyEnv.map((variable) => environmentKey(config.environment, variable));
  return keys.length === 1 ? { api_key: keys[0] } : { api_keys: keys };
}

function environmentKey(
  environment: CommandContext['config']['environment'],
  variable: string,
): string {
  const key = environment[variable]?.trim();
  if (key !== undefined && key !== '') return key;
  throw new CliError(
    'usage',
    `the environment variable ${variable} is not set`,
    `Set it first: export ${variable}=…`,
  );
}

async function listBackends(context: CommandContext): Promise<Answer> {
  const backends = await listed(context);
  return {
    json: { backends },
    text: backends.length === 0 ? '' : backendTable(backends),
    ...(backends.length === 0 ? { note: 'No backends. Add one: gateway backends add --help' } : {}),
  };
}

async function listed({ service }: CommandContext): Promise<readonly ListedBackend[]> {
  const body = (await service.requestAsAdmin({ path: PATH })) as BackendList;
  return body.backends.health;
}

const backendTable = (backends: readonly ListedBackend[]): string =>
  table(backends, [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'TYPE', value: ({ type }) => type },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'CIRCUIT', value: circuitOf },
    { title: 'MODELS', isNumber: true, value: ({ models }) => String(models.length) },
    { title: 'REASON', value: ({ reason }) => reason ?? '' },
  ]);

/** That of the backend, and those of its operations that fail. */
function circuitOf({ circuit, operation_circuits: operations = {} }: ListedBackend): string {
  const failing = Object.entries(operations).map(([operation, state]) => `${operation} ${state}`);
  return [circuit, ...failing].join(', ');
}

/** A backend in a few words. */
function stateOf({ state, models, reason }: ListedBackend): string {
  const why = typeof reason !== 'string' || reason === '' ? '' : `, ${oneLine(reason)}`;
  return `${state}, ${models.length} ${models.length === 1 ? 'model' : 'models'}${why}`;
}

async function testBackend(
  context: CommandContext,
  name: string,
  { model }: { readonly model?: string },
): Promise<Answer> {
  const body = model === undefined ? {} : { model };
  const result = (await byName(context, name, {
    method: 'POST',
    suffix: '/test',
    body,
  })) as BackendTest;
  return {
    json: result,
    text: testText(result),
    exitStatus: result.status === 'ok' ? EXIT_OK : EXIT_FAILED,
  };
}

/** What happened, one line for the probe and one for the chat. */
function testText({ probe, chat }: BackendTest): string {
  const why = (reason: string | null) => (reason === null ? '' : `: ${oneLine(reason)}`);
  const took = (ms: number | null) => (ms === null ? '' : ` in ${duration(ms)}`);
  const said = chat.text === null ? why(chat.reason) : `: ${oneLine(chat.text)}`;
  const model = chat.model === null ? '' : ` with ${oneLine(chat.model)}`;
  return [
    `probe  ${probe.state}${took(probe.latency_ms)}${why(probe.reason)}`,
    `chat   ${chat.status}${model}${took(chat.latency_ms)}${said}`,
  ].join('\n');
}

async function removeBackend(context: CommandContext, name: string): Promise<Answer> {
  await byName(context, name, { method: 'DELETE' });
  return { json: { name, removed: true }, text: `Removed ${oneLine(name)}.` };
}

interface NamedRequest extends Pick<RestRequest, 'method' | 'body'> {
  readonly suffix?: string;
}

async function byName(
  { service }: CommandContext,
  name: string,
  { suffix = '', ...request }: NamedRequest,
): Promise<unknown> {
  const path = `${PATH}/by-name/${encodeURIComponent(name)}${suffix}`;
  try {
    return await service.requestAsAdmin({ ...request, path });
  } catch (error) {
    if (!(error instanceof RestError) || error.status !== NOT_FOUND) throw error;
    throw new CliError(
      'not_found',
      `there is no backend ${JSON.stringify(name)}`,
      'List the backends: gateway backends list',
    );
  }
}
