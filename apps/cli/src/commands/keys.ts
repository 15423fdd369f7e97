import type { RpcResult } from '@model-gateway/contracts';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { moment } from '../output/format.ts';
import { oneLine } from '../output/printable.ts';
import { printedSecret } from '../output/printed-secret.ts';
import { table } from '../output/table.ts';
import { wholeNumber } from './arguments.ts';
import { limitsOf, shownLimits, withLimitOptions, type LimitOptions } from './key-limits.ts';

const GRACE_SECS_MAX = 604_800;

type Key = RpcResult<'keys.list'>[number];

export function addKeyCommands(program: Command, run: Runner): void {
  const keys = program
    .command('keys')
    .summary('create, list, change, rotate and revoke API keys')
    .description('Your API keys for /v1.')
    .helpCommand(false);
  withLimitOptions(keys.command('create'))
    .summary('create a key and print it')
    .description('Create an API key and print it. It is shown only once.')
    .argument('<name>', 'what the key is for')
    .option('--project <label>', 'label for usage reports')
    .option('--group <id>', 'the group that pays for its requests')
    .addHelpText(
      'after',
      '\nExamples:\n  KEY=$(gateway keys create "my laptop")\n  gateway keys create ci --project builds --json',
    )
    .action(run(createKey));
  keys
    .command('list')
    .summary('list your keys')
    .description('List your keys, newest first, without their secrets.')
    .option('--all', 'also revoked ones')
    .addHelpText('after', '\nExample:\n  gateway keys list --all')
    .action(run(listKeys));
  withLimitOptions(keys.command('update'))
    .summary('change the limits of a key')
    .description('Change the limits of a key by its name, id or prefix; none clears one.')
    .argument('<key>', 'name, id or prefix of the key')
    .addHelpText(
      'after',
      '\nExample:\n  gateway keys update ci --budget 20 --period week --rpm none',
    )
    .action(run(updateKey));
  keys
    .command('rotate')
    .summary('give a key a new secret and print it')
    .description('Give a key a new secret and print it. The one before works for the grace.')
    .argument('<key>', 'name, id or prefix of the key')
    .option(
      '--grace <seconds>',
      'how long the secret before works; a day by default',
      wholeNumber('--grace', 0, GRACE_SECS_MAX),
    )
    .addHelpText('after', '\nExample:\n  KEY=$(gateway keys rotate ci --grace 3600)')
    .action(run(rotateKey));
  keys
    .command('revoke')
    .summary('revoke a key')
    .description('Revoke a key by its name, id or prefix. It stops working at once.')
    .argument('<key>', 'name, id or prefix of the key')
    .addHelpText('after', '\nExample:\n  gateway keys revoke "my laptop"')
    .action(run(revokeKey));
}

async function createKey(
  { service }: CommandContext,
  name: string,
  options: LimitOptions & { readonly project?: string; readonly group?: string },
): Promise<Answer> {
  const created = await service.call('keys.create', {
    name,
    ...(options.project === undefined ? {} : { project: options.project }),
    ...(options.group === undefined ? {} : { group_id: options.group }),
    ...limitsOf(options),
  });
  return {
    json: created,
    text: printedSecret(created.key, 'key'),
    note: 'Store the key now: it is shown only once.',
  };
}

async function updateKey(
  { service }: CommandContext,
  nameOrId: string,
  options: LimitOptions,
): Promise<Answer> {
  const { id } = chosen(await service.list('keys.list', {}), nameOrId);
  const key = await service.call('keys.update', { key_id: id, ...limitsOf(options) });
  return { json: key, text: `Changed ${oneLine(key.name)} (${oneLine(key.key_hint)}).` };
}

async function rotateKey(
  { service }: CommandContext,
  nameOrId: string,
  { grace }: { readonly grace?: number },
): Promise<Answer> {
  const { id } = chosen(await service.list('keys.list', {}), nameOrId);
  const graceful = grace === undefined ? {} : { grace_secs: grace };
  const rotated = await service.call('keys.rotate', { key_id: id, ...graceful });
  return {
    json: rotated,
    text: printedSecret(rotated.key, 'key'),
    note: 'Store the key now: it is shown only once.',
  };
}

async function listKeys(
  { service }: CommandContext,
  options: { readonly all?: boolean },
): Promise<Answer> {
  const all = await service.list('keys.list', {});
  const keys = options.all === true ? all : all.filter(isKept);
  return { json: { keys }, text: keys.length === 0 ? '' : keyTable(keys), ...noteOf(keys) };
}

const noteOf = (keys: readonly Key[]) =>
  keys.length > 0 ? {} : { note: 'No keys. Create one: gateway keys create "my key"' };

const keyTable = (keys: readonly Key[]): string =>
  table(keys, [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'KEY', value: ({ key_hint }) => key_hint },
    { title: 'PROJECT', value: ({ project }) => project },
    { title: 'STATE', value: stateOf },
    { title: 'LIMITS', value: shownLimits },
    { title: 'CREATED', value: ({ created_at }) => moment(created_at) },
    { title: 'LAST USED', value: ({ last_used_at }) => moment(last_used_at) },
    { title: 'ID', value: ({ id }) => id },
  ]);

/** One that has expired can be used again after a change, and so can one of a group whose member was deactivated. */
const isKept = ({ revoked_at }: Key): boolean => revoked_at === null;

function stateOf({ active, revoked_at, expires_at }: Key): string {
  if (revoked_at !== null) return 'revoked';
  if (active) return 'active';
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'inactive';
}

async function revokeKey({ service }: CommandContext, nameOrId: string): Promise<Answer> {
  const key = chosen(await service.list('keys.list', {}), nameOrId);
  await service.call('keys.revoke', { key_id: key.id });
  return {
    json: { id: key.id, name: key.name, revoked: true },
    text: `Revoked ${oneLine(key.name)} (${oneLine(key.key_hint)}).`,
  };
}

/** The one key with a name, id or prefix that is not revoked. */
function chosen(all: readonly Key[], nameOrId: string): Key {
  const kept = all.filter(isKept);
  const found = kept.filter(
    ({ id, name, key_prefix, key_hint }) =>
      id === nameOrId || name === nameOrId || key_prefix === nameOrId || key_hint === nameOrId,
  );
  const [key] = found;
  if (key === undefined) {
    throw new CliError(
      'not_found',
      `you have no key ${JSON.stringify(nameOrId)}`,
      'List your keys: gateway keys list',
    );
  }
  if (found.length === 1) return key;
  throw new CliError(
    'ambiguous',
    `${found.length} keys match ${JSON.stringify(nameOrId)}: ${found.map(({ id }) => id).join(', ')}`,
    'Use the id of one instead; `gateway keys list` shows them.',
  );
}
