import { Command, CommanderError } from 'commander';
import { CliError, EXIT_OK, EXIT_USAGE } from './cli-error.ts';
import type { Answer, CommandContext, Handler, Runner } from './command-context.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addBackendCommands } from './commands/backends.ts';
import { addChatCommand } from './commands/chat.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addConfigCommands } from './commands/config.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addLoginCommands } from './commands/login.ts';
import { addModelsCommand } from './commands/models.ts';
import { addNodesCommand } from './commands/nodes.ts';
import { addPlanCommands } from './commands/plan.ts';
import { addPriceCommands } from './commands/prices.ts';
import { addRequestsCommand } from './commands/requests.ts';
import { addRouteCommand } from './commands/route.ts';
import { addRpcCommand } from './commands/rpc.ts';
import { addSpendCommand } from './commands/spend.ts';
import { addStatusCommands } from './commands/status.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addUserCommands } from './commands/users.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { readCliConfig, type CliConfig } from './config.ts';
import { createCredentialFile, type CredentialFile } from './credentials/credential-file.ts';
import { wholeNumber } from './commands/arguments.ts';
import { oneLine, printable, printableJson } from './output/printable.ts';
import { createService, type Service } from './service/service.ts';
import { toCliError } from './service/service-errors.ts';
import { baseUrlOf, URL_DEFAULT } from './service/base-url.ts';
import type { Terminal } from './terminal.ts';
import { CLI_VERSION } from './version.ts';

/** The same everywhere, so that the reference shows what users see. */
const HELP_WIDTH = 100;
const TIMEOUT_SECS_DEFAULT = 30;
const TIMEOUT_SECS_MAX = 3600;

interface CliDependencies {
  readonly config: CliConfig;
  readonly terminal: Terminal;
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal;
}

interface GlobalOptions {
  readonly url?: string;
  readonly json?: boolean;
  readonly timeout: number;
}

/** Runs one command line; resolves to the exit status. */
export async function runCli(args: readonly string[], dependencies: CliDependencies) {
  const { terminal, signal } = dependencies;
  const file = createCredentialFile(dependencies.config.configDir);
  const opened: Service[] = [];
  let status = EXIT_OK;

  const program = createProgram(terminal, (handler) => async (...given) => {
    const context = await contextOf(program.opts<GlobalOptions>(), dependencies, file, opened);
    const answer = await answerOf(handler, context, given);
    status = answer?.exitStatus ?? EXIT_OK;
    if (answer !== undefined) print(answer, context);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    const isJson = args.includes('--json');
    const url = opened[0]?.url ?? URL_DEFAULT;
    return report(signal.aborted ? interrupted() : error, url, terminal, isJson);
  } finally {
    for (const service of opened) service.close();
  }
}

/** Commander passes the arguments, the options and the command itself. */
const answerOf = <Args extends readonly unknown[]>(
  handler: Handler<Args>,
  context: CommandContext,
  given: readonly unknown[],
): Promise<Answer | undefined> => handler(context, ...(given.slice(0, -1) as unknown as Args));

/** Every command with its help; `run` makes the actions. */
export function createProgram(terminal: Pick<Terminal, 'stdout' | 'stderr'>, run: Runner): Command {
  const program = new Command('gateway')
    .description('The command line of Model Gateway.')
    .version(CLI_VERSION)
    .option('--url <url>', `address of the service (GATEWAY_URL; default ${URL_DEFAULT})`)
    .option('--json', 'print JSON for scripts')
    .option(
      '--timeout <seconds>',
      'how long a call may take',
      wholeNumber('--timeout', 1, TIMEOUT_SECS_MAX),
      TIMEOUT_SECS_DEFAULT,
    )
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      // Reported once, at the end, with the next step.
      outputError: () => undefined,
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
    .configureHelp({ showGlobalOptions: true })
    .helpCommand(false)
    .addHelpText('after', EXAMPLES);
  addLoginCommands(program, run);
  addStatusCommands(program, run);
  addKeyCommands(program, run);
  addChatCommand(program, run);
  addModelsCommand(program, run);
  addBackendCommands(program, run);
  addUsageCommand(program, run);
  addWebhookCommands(program, run);
  addSpendCommand(program, run);
  addRequestsCommand(program, run);
  addRouteCommand(program, run);
  addPlanCommands(program, run);
  addUserCommands(program, run);
  addAuditCommands(program, run);
  addPriceCommands(program, run);
  addConfigCommands(program, run);
  addNodesCommand(program, run);
  addRpcCommand(program, run);
  addDoctorCommand(program, run);
  addCompletionCommand(program, terminal);
  return program;
}

const EXAMPLES = `
Examples:
  gateway login --email you@example.com      sign in; asks for the password
  KEY=$(gateway keys create "my key")        create an API key
  gateway chat demo-chat "Hello!"            ask a model
  gateway doctor                             check everything and say what to do next

Exit status: 0 done, 1 failed, 2 wrong arguments, 3 not signed in or not allowed, 4 service not
reachable, 5 not found, 6 limit or quota reached, 130 interrupted.`;

async function contextOf(
  options: GlobalOptions,
  { config, terminal, signal }: CliDependencies,
  file: CredentialFile,
  opened: Service[],
): Promise<CommandContext> {
  const at = (url: string): Service => {
    const timeoutMs = options.timeout * 1000;
    const service = createService({ url: baseUrlOf(url), config, file, timeoutMs, signal });
    opened.push(service);
    return service;
  };
  const given = options.url ?? config.url;
  const service = at(given ?? (await file.read()).current ?? URL_DEFAULT);
  const isJson = options.json === true;
  return { config, terminal, isJson, signal, file, service, at, isUrlGiven: given !== undefined };
}

function print({ json, text, note }: Answer, { terminal, isJson }: CommandContext): void {
  const printed = isJson ? printableJson(json) : printable(text);
  if (printed !== '') terminal.stdout.write(`${printed}\n`);
  if (note !== undefined && !isJson) terminal.stderr.write(`${oneLine(note)}\n`);
}

const interrupted = (): CliError => new CliError('interrupted', 'interrupted');

/** Prints what is wrong and what to do next. */
function report(error: unknown, url: string, { stderr }: Terminal, isJson: boolean): number {
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT_OK;
  // The help was printed, because a command is missing.
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT_USAGE;
  const known = error instanceof CommanderError ? usageError(error) : toCliError(error, url);
  const { code, next } = known;
  const message = oneLine(known.message);
  if (isJson) {
    stderr.write(`${printableJson({ error: { code, message, next: next ?? null } })}\n`);
  } else {
    stderr.write(`gateway: ${message}\n${next === undefined ? '' : `${oneLine(next)}\n`}`);
  }
  return known.exitStatus;
}

function usageError({ message }: CommanderError): CliError {
  const unknown = /^error: unknown command '(.*)'$/.exec(message)?.[1] ?? '';
  const meant = Object.entries(OTHER_WORDS).find(([, words]) => words.includes(unknown))?.[0];
  return new CliError(
    'usage',
    message.replace(/^error: /, ''),
    meant === undefined
      ? 'See: gateway --help, or --help after any command.'
      : `Did you mean gateway ${meant}? gateway --help lists all commands.`,
  );
}

/** What people call the commands elsewhere. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  'login --register': ['register', 'signup', 'sign-up'],
  login: ['signin', 'sign-in', 'auth'],
  logout: ['signout', 'sign-out'],
  whoami: ['me', 'account', 'profile'],
  status: ['health', 'info', 'ps'],
  chat: ['ask', 'run', 'prompt', 'complete'],
  'plan show': ['tier', 'tiers', 'quota', 'limits'],
  'users list': ['accounts', 'people', 'members'],
  requests: ['logs', 'log'],
  spend: ['cost', 'costs', 'billing'],
  'backends list': ['providers', 'upstreams', 'servers'],
  'keys create': ['key', 'apikey', 'api-key', 'token'],
  'prices list': ['pricing'],
  '--help': ['help'],
  '--version': ['version'],
};

export { readCliConfig };
