import type { RpcInput, RpcResult } from '@model-gateway/contracts';
import { Option, type Command } from 'commander';
import { CliError } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { moment } from '../output/format.ts';
import { oneLine } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { foundUser, type Account } from '../service/found-user.ts';
import { wholeNumber } from './arguments.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

interface ListOptions {
  readonly search?: string;
  readonly state?: 'active' | 'inactive';
  readonly admins?: boolean;
  readonly limit: number;
  readonly after?: string;
}

interface UpdateOptions {
  readonly tier?: string;
  readonly name?: string;
  readonly role?: 'admin' | 'user';
  readonly state?: 'active' | 'inactive';
  readonly providerClaim?: 'allow' | 'deny';
}

const stateOption = (description: string): Option =>
  new Option('--state <state>', description).choices(['active', 'inactive']);

export function addUserCommands(program: Command, run: Runner): void {
  const users = program
    .command('users')
    .summary('list, change and remove accounts')
    .description(
      'Accounts, for admins. Without a sign-in the commands use the admin token, as backends does.',
    )
    .helpCommand(false);
  users
    .command('list')
    .summary('list accounts')
    .description('List accounts, the oldest first.')
    .option('--search <text>', 'a part of the email or name')
    .addOption(stateOption('only active or only inactive ones'))
    .option('--admins', 'only admins')
    .option('--limit <count>', 'how many', wholeNumber('--limit', 1, LIMIT_MAX), LIMIT_DEFAULT)
    .option('--after <id>', 'go on after an earlier list')
    .addHelpText('after', '\nExample:\n  gateway users list --search @example.com')
    .action(run(listUsers));
  users
    .command('show')
    .summary('show an account')
    .description('Show one account.')
    .argument('<user>', 'email or id of the account')
    .addHelpText('after', '\nExample:\n  gateway users show dev@example.com')
    .action(run(showUser));
  users
    .command('update')
    .summary('change an account')
    .description(
      'Change the given fields of an account. An inactive one cannot sign in, and its keys stop.',
    )
    .argument('<user>', 'email or id of the account')
    .option('--tier <tier>', 'its limits')
    .option('--name <name>', 'the name that is shown')
    .addOption(new Option('--role <role>', 'what it may do').choices(['admin', 'user']))
    .addOption(stateOption('whether it may be used'))
    .addOption(
      new Option(
        '--provider-claim <answer>',
        'whether the person of the identity provider who has its email may take it over; its password, sign-ins, keys and memberships end then',
      ).choices(['allow', 'deny']),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  gateway users update dev@example.com --tier pro\n  gateway users update dev@example.com --state inactive',
    )
    .action(run(updateUser));
  users
    .command('reset-link')
    .summary('print a link that sets a new password')
    .description(
      'Print a link with which the user sets a new password, once and within an hour. It replaces an earlier one.',
    )
    .argument('<user>', 'email or id of the account')
    .addHelpText('after', '\nExample:\n  gateway users reset-link dev@example.com')
    .action(run(createResetLink));
  users
    .command('erase')
    .summary('remove a person')
    .description(
      'Remove a person: email, name, conversations, memory, keys and sign-ins. Usage and ledger stay for the bill. It cannot be undone.',
    )
    .argument('<user>', 'email or id of the account')
    .option('--yes', 'confirm it')
    .addHelpText('after', '\nExample:\n  gateway users erase dev@example.com --yes')
    .action(run(eraseUser));
}

async function listUsers(
  { service }: CommandContext,
  { search, state, admins, limit, after }: ListOptions,
): Promise<Answer> {
  const listed = await service.callAsAnyAdmin('users.list', {
    limit,
    ...(search === undefined ? {} : { search }),
    ...(state === undefined ? {} : { active: state === 'active' }),
    ...(admins === true ? { is_admin: true } : {}),
    ...(after === undefined ? {} : { after }),
  });
  const { users } = listed;
  return {
    json: listed,
    text: users.length === 0 ? 'No accounts.' : userTable(users),
    ...(listed.has_more ? { note: `There are more: --after ${listed.after}` } : {}),
  };
}

const userTable = (users: readonly Account[]): string =>
  table(users, [
    { title: 'EMAIL', value: ({ email }) => email },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'TIER', value: ({ tier }) => tier },
    { title: 'ROLE', value: roleOf },
    { title: 'STATE', value: stateOf },
    { title: 'KEYS', isNumber: true, value: ({ active_keys }) => String(active_keys) },
    { title: 'LAST SIGN-IN', value: ({ last_sign_in_at }) => moment(last_sign_in_at) },
    { title: 'ID', value: ({ id }) => id },
  ]);

const roleOf = ({ is_admin }: Account): string => (is_admin ? 'admin' : 'user');

function stateOf({ active, erased_at }: Account): string {
  if (erased_at !== null) return 'erased';
  return active ? 'active' : 'inactive';
}

function providerOf({ provider_bound, provider_claim }: Account): string {
  const bound = provider_bound ? 'linked' : 'not linked';
  return provider_claim ? `${bound}, may be taken over` : bound;
}

async function showUser({ service }: CommandContext, emailOrId: string): Promise<Answer> {
  const user = await foundUser(service, emailOrId);
  return { json: user, text: fieldsOf(user) };
}

function fieldsOf(user: Account): string {
  const fields: readonly (readonly [string, string])[] = [
    ['Email', user.email],
    ['Name', user.name],
    ['Tier', user.tier],
    ['Role', roleOf(user)],
    ['State', stateOf(user)],
    ['Provider', providerOf(user)],
    ['Active keys', String(user.active_keys)],
    ['Created', moment(user.created_at)],
    ['Last sign-in', moment(user.last_sign_in_at)],
    ['Id', user.id],
  ];
  return fields.map(([title, value]) => `${title.padEnd(14)}${oneLine(value)}`).join('\n');
}

async function updateUser(
  { service }: CommandContext,
  emailOrId: string,
  options: UpdateOptions,
): Promise<Answer> {
  const { tier, name, role, state, providerClaim } = options;
  const changes: Omit<RpcInput<'users.update'>, 'user_id'> = {
    ...(tier === undefined ? {} : { tier }),
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { is_admin: role === 'admin' }),
    ...(state === undefined ? {} : { active: state === 'active' }),
    ...(providerClaim === undefined ? {} : { provider_claim: providerClaim === 'allow' }),
  };
  if (Object.keys(changes).length === 0) {
    throw new CliError(
      'usage',
      'nothing to change',
      'Give --tier, --name, --role, --state or --provider-claim.',
    );
  }
  const { id } = await foundUser(service, emailOrId);
  const user = await service.callAsAnyAdmin('users.update', { user_id: id, ...changes });
  return {
    json: user,
    text: `Changed ${oneLine(user.email)}: tier ${oneLine(user.tier)}, ${roleOf(user)}, ${stateOf(user)}.`,
  };
}

async function createResetLink({ service }: CommandContext, emailOrId: string): Promise<Answer> {
  const { id, email } = await foundUser(service, emailOrId);
  const created = await service.callAsAnyAdmin('users.reset_link', { user_id: id });
  const mailed = created.mailed ? ' It was also mailed to the user.' : '';
  return {
    json: created,
    text: new URL(created.link, service.url).href,
    note: `It sets a new password for ${oneLine(email)} once, until ${moment(created.expires_at)} (UTC).${mailed}`,
  };
}

const MEMORY: Readonly<Record<RpcResult<'users.erase'>['memory'], string>> = {
  removed: '',
  none: '',
  failed: ' The memory service did not answer: repeat the command to remove the memories.',
};

async function eraseUser(
  { service }: CommandContext,
  emailOrId: string,
  { yes }: { readonly yes?: boolean },
): Promise<Answer> {
  const { id, email } = await foundUser(service, emailOrId);
  if (yes !== true) {
    throw new CliError(
      'usage',
      `erasing ${oneLine(email)} cannot be undone`,
      `To do it: gateway users erase ${id} --yes`,
    );
  }
  const erased = await service.callAsAnyAdmin('users.erase', { user_id: id });
  return {
    json: { id, ...erased },
    text: `Erased ${oneLine(email)}.${MEMORY[erased.memory]}`,
    exitStatus: erased.memory === 'failed' ? 1 : 0,
  };
}
