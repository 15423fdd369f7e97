import { RpcCallError } from '@model-gateway/client';
import type { RpcResult } from '@model-gateway/contracts';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import type { StoredService } from '../credentials/credential-file.ts';
import { toStored } from '../credentials/session.ts';
import { oneLine } from '../output/printable.ts';
import type { Service } from '../service/service.ts';
import { sendRest } from '../service/rest.ts';
import { baseUrlOf } from '../service/base-url.ts';
import { ask, readSecret } from '../terminal.ts';

interface LoginOptions {
  readonly email?: string;
  readonly passwordStdin?: boolean;
  readonly adminTokenStdin?: boolean;
  readonly register?: boolean;
}

const AUTH_REFUSED = -32_005;
const APP_ERROR = -32_000;
const VERIFY_TIMEOUT_MS = 30_000;
const FIRST_TIER = 'enterprise';

interface SignedIn {
  readonly signedIn: RpcResult<'auth.login'>;
  readonly isCreated: boolean;
}

const existing = (signedIn: RpcResult<'auth.login'>): SignedIn => ({ signedIn, isCreated: false });

export function addLoginCommands(program: Command, run: Runner): void {
  program
    .command('login')
    .summary('sign in, and keep the sign-in')
    .description(
      'Sign in and keep the sign-in for later commands, in a file that only you can read.\n' +
        'Asks for what is missing. A password is never an argument: others can see arguments.',
    )
    .option('--email <address>', 'the email address of the account')
    .option('--password-stdin', 'read the password from standard input')
    .option('--register', 'create the account if there is none; the first one becomes the admin')
    .option('--admin-token-stdin', 'store the admin token from standard input, without signing in')
    .addHelpText(
      'after',
      `
Examples:
  gateway login --email you@example.com
  gateway login --register --email you@example.com
  gateway login --email you@example.com --password-stdin < password.txt
  gateway login --admin-token-stdin < .data/secrets/admin-token`,
    )
    .action(run(login));
  program
    .command('logout')
    .summary('end the sign-in and remove it here')
    .description('End the sign-in at the service, and remove it and the admin token from here.')
    .addHelpText('after', '\nExample:\n  gateway logout --url https://gateway.example.com')
    .action(run(logout));
}

async function login(context: CommandContext, options: LoginOptions): Promise<Answer> {
  if (options.adminTokenStdin === true && options.passwordStdin === true) {
    throw new CliError(
      'usage',
      '--password-stdin and --admin-token-stdin both read standard input',
      'Run `gateway login` once with each of them.',
    );
  }
  const service = await chosenService(context);
  return options.adminTokenStdin === true
    ? storeAdminToken(context, service)
    : signIn(context, service, options);
}

/** A person is asked for the address where none was given. */
async function chosenService(context: CommandContext): Promise<Service> {
  const { terminal, isUrlGiven, service } = context;
  if (isUrlGiven || terminal.stdin.isTTY !== true) return service;
  const typed = (await ask(terminal, `Address of the service [${service.url}]: `)).trim();
  return typed === '' ? service : context.at(baseUrlOf(typed));
}

async function signIn(
  context: CommandContext,
  service: Service,
  options: LoginOptions,
): Promise<Answer> {
  const email = options.email ?? (await prompt(context, 'Email: ', '--email <address>'));
  const password =
    options.passwordStdin === true
      ? await readSecret(context.terminal, 'password')
      : await prompt(context, 'Password: ', '--password-stdin');
  const { signal } = context;
  const account = { email, password };
  const { signedIn, isCreated } = await (
    options.register === true
      ? registerOrSignIn(service, account, signal)
      : service.anonymous.call('auth.login', account, { signal }).then(existing)
  ).catch((error: unknown) => {
    throw isRefused(error) ? wrongPassword(service.url) : error;
  });
  await store(context, service.url, () => ({ sign_in: toStored(signedIn, Date.now()) }));
  const { user } = signedIn;
  const created = isCreated ? await describeCreated(service, user) : undefined;
  return signedInAnswer(context, service.url, user, created);
}

/** What a registration made. The first account runs the installation, so that it gets the widest tier. */
async function describeCreated(service: Service, user: RpcResult<'auth.me'>): Promise<string> {
  if (!user.is_admin) {
    return 'Created a new account. It is not an admin, because the installation has accounts already.';
  }
  const created = 'Created the first account of this installation, which is its admin';
  try {
    await service.call('users.update', { user_id: user.id, tier: FIRST_TIER });
    return `${created}, on the tier ${FIRST_TIER}.`;
  } catch {
    return `${created}. Lift its limits: gateway plan set ${oneLine(user.email)} ${FIRST_TIER}`;
  }
}

/** An account that exists is signed in to, so that the command can be repeated; else the first problem is the one to report. */
async function registerOrSignIn(
  { anonymous }: Service,
  account: { readonly email: string; readonly password: string },
  signal: AbortSignal,
): Promise<SignedIn> {
  try {
    const signedIn = await anonymous.call('auth.register', account, { signal });
    return { signedIn, isCreated: true };
  } catch (problem) {
    if (!(problem instanceof RpcCallError) || problem.code !== APP_ERROR) throw problem;
    return anonymous
      .call('auth.login', account, { signal })
      .then(existing)
      .catch((error: unknown) => {
        throw isRefused(error) ? problem : error;
      });
  }
}

async function prompt(context: CommandContext, question: string, option: string): Promise<string> {
  const { terminal } = context;
  const isSecret = option.endsWith('-stdin');
  if (terminal.stdin.isTTY === true) return ask(terminal, question, isSecret);
  throw new CliError(
    'usage',
    `${option} is missing, and there is no terminal to ask`,
    'See: gateway login --help',
  );
}

function signedInAnswer(
  { file }: CommandContext,
  url: string,
  user: RpcResult<'auth.me'>,
  created: string | undefined,
): Answer {
  const role = user.is_admin ? ', an admin' : '';
  return {
    json: { url, user, credentials_file: file.path },
    text: `Signed in at ${url} as ${oneLine(user.email)}${role}.`,
    note: `${created === undefined ? '' : `${created} `}The sign-in is kept in ${file.path}.`,
  };
}

async function storeAdminToken(context: CommandContext, service: Service): Promise<Answer> {
  const { url } = service;
  const token = await readSecret(context.terminal, 'admin token');
  const { status } = await sendRest(
    { path: '/api/admin/backends', bearer: token },
    { baseUrl: url, timeoutMs: VERIFY_TIMEOUT_MS, signal: context.signal },
  );
  if (status !== 200) {
    throw new CliError(
      'admin_token_required',
      `${url} refused the admin token (HTTP ${status})`,
      'Use secrets/admin-token in the data directory of the service, unless SERVICE_ADMIN_TOKEN sets it there.',
    );
  }
  await store(context, url, () => ({ admin_token: token }));
  return {
    json: { url, admin_token_stored: true, credentials_file: context.file.path },
    text: `The admin token for ${url} is kept in ${context.file.path}.`,
  };
}

async function store(
  { file }: CommandContext,
  url: string,
  added: () => StoredService,
): Promise<void> {
  await file.update(async ({ services }) => ({
    current: url,
    services: { ...services, [url]: { ...services[url], ...added() } },
  }));
}

async function logout(context: CommandContext): Promise<Answer> {
  const { service, file, signal } = context;
  const { url } = service;
  const before = (await file.read()).services[url];
  const problem =
    before?.sign_in === undefined
      ? undefined
      : await service.user.call('auth.logout', {}, { signal }).then(
          () => undefined,
          (error: unknown) => error,
        );
  // A sign-in that the service does not know any more has ended.
  const isConfirmed = problem === undefined || isEnded(problem);
  await file.update(async ({ current, services }) => {
    const { [url]: _removed, ...others } = services;
    return { services: others, ...(current === undefined || current === url ? {} : { current }) };
  });
  return {
    json: { url, signed_out: before !== undefined, confirmed: isConfirmed },
    text: before === undefined ? `You were not signed in at ${url}.` : `Signed out of ${url}.`,
    ...(isConfirmed
      ? {}
      : { note: `${url} did not confirm it: the sign-in there ends by itself within a week.` }),
  };
}

const isRefused = (error: unknown): boolean =>
  error instanceof RpcCallError && error.code === AUTH_REFUSED;

const isEnded = (error: unknown): boolean =>
  isRefused(error) || (error instanceof CliError && error.code === 'not_signed_in');

const wrongPassword = (url: string): CliError =>
  new CliError(
    'not_signed_in',
    'wrong email or password',
    `Try again, or create the account: gateway login --url ${url} --register`,
  );
