import { createWriteStream } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RpcResult } from '@model-gateway/contracts';
import type { Command } from 'commander';
import { CliError, EXIT_FAILED, EXIT_OK } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { count, moment } from '../output/format.ts';
import { oneLine, printable } from '../output/printable.ts';
import { table } from '../output/table.ts';
import { foundUser } from '../service/found-user.ts';
import { timeOf, wholeNumber } from './arguments.ts';

type Entry = RpcResult<'audit.list'>['entries'][number];

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 500;
const SEQ_MAX = Number.MAX_SAFE_INTEGER;

interface ListOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly from?: string;
  readonly to?: string;
  readonly before?: number;
  readonly limit: number;
}

interface VerifyOptions {
  readonly after?: number;
  readonly hash?: string;
}

interface ExportOptions {
  readonly after?: number;
  readonly from?: string;
  readonly to?: string;
  readonly output?: string;
}

export function addAuditCommands(program: Command, run: Runner): void {
  const audit = program
    .command('audit')
    .summary('read, check and export the audit log')
    .description(
      'The audit log, for admins. Without a sign-in the commands use the admin token, as backends does.',
    )
    .helpCommand(false);
  audit
    .command('list')
    .summary('list changes')
    .description('List changes by admins, owners and the admin token, the newest first.')
    .option('--actor <user>', 'only those by an account; its email or id')
    .option('--action <action>', 'only this one, such as users.update')
    .option('--target <target>', 'only those of this, such as user:<id>')
    .option('--from <time>', 'from this day or time (UTC)', timeOf('--from', 'start-of-day'))
    .option(
      '--to <time>',
      'up to this day, or before this time (UTC)',
      timeOf('--to', 'end-of-day'),
    )
    .option('--limit <count>', 'how many', wholeNumber('--limit', 1, LIMIT_MAX), LIMIT_DEFAULT)
    .option(
      '--before <seq>',
      'go on before an entry of an earlier list',
      wholeNumber('--before', 0, SEQ_MAX),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  gateway audit list --action users.update\n  gateway audit list --actor you@example.com --from 2026-11-01 --json',
    )
    .action(run(listEntries));
  audit
    .command('verify')
    .summary('check the hash chain')
    .description('Check the hash chain from its beginning, or from an entry that you have kept.')
    .option('--after <seq>', 'the last entry that is known', wholeNumber('--after', 0, SEQ_MAX))
    .option('--hash <hash>', 'its hash')
    .addHelpText('after', '\nExample:\n  gateway audit verify')
    .action(run(verifyChain));
  audit
    .command('export')
    .summary('write the audit log as JSON Lines')
    .description(
      'Write the audit log as JSON Lines, the oldest entry first. Needs the admin token.',
    )
    .option('--after <seq>', 'only entries after this one', wholeNumber('--after', 0, SEQ_MAX))
    .option('--from <time>', 'from this day or time (UTC)')
    .option('--to <time>', 'up to this day, or before this time (UTC)')
    .option('--output <file>', 'a file that does not exist yet; else standard output')
    .addHelpText('after', '\nExample:\n  gateway audit export --output audit.jsonl')
    .action(run(exportEntries));
}

async function listEntries(
  { service }: CommandContext,
  { actor, action, target, from, to, before, limit }: ListOptions,
): Promise<Answer> {
  const actorId = actor === undefined ? undefined : (await foundUser(service, actor)).id;
  const listed = await service.callAsAnyAdmin('audit.list', {
    actor_id: actorId,
    action,
    target,
    from,
    to,
    before,
    limit,
  });
  const { entries } = listed;
  return {
    json: listed,
    text: entries.length === 0 ? 'No entries.' : entryTable(entries),
    ...(listed.has_more ? { note: `There are more: --before ${listed.before}` } : {}),
  };
}

const entryTable = (entries: readonly Entry[]): string =>
  table(entries, [
    { title: 'SEQ', isNumber: true, value: ({ seq }) => String(seq) },
    { title: 'TIME (UTC)', value: ({ at }) => moment(at) },
    {
      title: 'BY',
      value: ({ actor, actor_email, actor_id }) =>
        actor_email ?? actor_id ?? actor.replace('-', ' '),
    },
    { title: 'ACTION', value: ({ action }) => action },
    { title: 'TARGET', value: ({ target }) => target ?? '-' },
    { title: 'ADDRESS', value: ({ client_ip }) => client_ip },
  ]);

/** The service checks a part of the chain at a time. */
async function verifyChain(
  { service }: CommandContext,
  { after, hash }: VerifyOptions,
): Promise<Answer> {
  let last: Pick<RpcResult<'audit.verify'>, 'after' | 'hash'> = {
    after: after ?? null,
    hash: hash ?? null,
  };
  let checked = 0;
  for (;;) {
    const step = await service.callAsAnyAdmin('audit.verify', last);
    checked += step.checked;
    last = { after: step.after, hash: step.hash };
    if (step.ok && step.has_more) continue;
    const { broken } = step;
    return {
      json: { ok: step.ok, checked, ...last, broken },
      text:
        broken === null
          ? `${count(checked)} entries fit.`
          : `Entry ${broken.seq} does not fit: ${oneLine(broken.reason)}. ${count(checked)} entries before it fit.`,
      ...(last.after === null
        ? {}
        : { note: `To begin the next check here: --after ${last.after} --hash ${last.hash}` }),
      exitStatus: step.ok ? EXIT_OK : EXIT_FAILED,
    };
  }
}

async function exportEntries(
  { service, terminal }: CommandContext,
  { after, from, to, output }: ExportOptions,
): Promise<Answer | undefined> {
  const query = new URLSearchParams({
    ...(after === undefined ? {} : { after: String(after) }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  });
  const lines = Readable.from(service.streamAsAdmin(`/api/admin/audit?${query.toString()}`));
  if (output === undefined) {
    // A pipe or file gets the exact bytes, which a check of the hashes needs.
    const shown = terminal.stdout.isTTY === true ? printableParts(lines) : lines;
    await pipeline(shown, terminal.stdout, { end: false });
    return undefined;
  }
  const file = newFile(output);
  await pipeline(lines, file.stream).catch((error: unknown) => {
    throw file.problem() ?? error;
  });
  return { json: { file: output }, text: `Wrote ${output}.` };
}

async function* printableParts(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const part of parts) yield printable(decoder.decode(part, { stream: true }));
}

/** A file for its owner only; an existing one is not replaced. */
function newFile(path: string): {
  readonly stream: Writable;
  readonly problem: () => CliError | undefined;
} {
  let problem: CliError | undefined;
  const stream = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  stream.once('error', (cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'EEXIST' ? 'it exists already' : cause.message;
    problem = new CliError(
      'usage',
      `cannot write ${JSON.stringify(path)}: ${reason}`,
      'Name another file.',
      cause,
    );
  });
  return { stream, problem: () => problem };
}
