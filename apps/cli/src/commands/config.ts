import { readFile } from 'node:fs/promises';
import type { RpcResult } from '@model-gateway/contracts';
import type { Command } from 'commander';
import { CliError, EXIT_FAILED } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { oneLine } from '../output/printable.ts';

type Checked = RpcResult<'config.check'>;
type Plan = NonNullable<Checked['plan']>;

interface CheckOptions {
  readonly plan?: boolean;
}

export function addConfigCommands(program: Command, run: Runner): void {
  const config = program
    .command('config')
    .summary('check a configuration file')
    .description('The configuration file of an installation.')
    .helpCommand(false);
  config
    .command('check')
    .summary('check a configuration file')
    .description(
      'Name line and field of everything that is wrong with a configuration file. The service checks it, with the variables of this environment that the file names, and applies nothing. Needs an admin or the admin token.',
    )
    .argument('<file>', 'the file')
    .option('--plan', 'show what applying it would add (+), change (~) and remove (-)')
    .addHelpText('after', '\nExample:\n  gateway config check gateway.yaml --plan')
    .action(run(check));
}

async function check(
  { service, config }: CommandContext,
  file: string,
  { plan: isPlan = false }: CheckOptions,
): Promise<Answer> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CliError('usage', `cannot read ${JSON.stringify(file)}`, undefined, cause);
  });
  const variables = variablesOf(text, config.environment);
  const { problems, plan } = await service.callAsAnyAdmin('config.check', { text, variables });
  if (plan === null) {
    return {
      json: { problems },
      text: problems.map((problem) => problemLine(file, problem)).join('\n'),
      exitStatus: EXIT_FAILED,
    };
  }
  const { added, changed, unchanged } = plan;
  const right = `${file} is right: ${added.length + changed.length + unchanged} entries`;
  return { json: { problems, plan }, text: isPlan ? planText(plan) : right };
}

/** Only those that the file names are sent. */
function variablesOf(
  text: string,
  environment: CommandContext['config']['environment'],
): Record<string, string> {
  const names = [...text.matchAll(/\$\{(\w+)/g)].flatMap(([, name]) => name ?? []);
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const problemLine = (
  file: string,
  { line, column, field, message }: Checked['problems'][number],
): string =>
  `${file}:${line}:${column} ${field === '' ? 'the file' : oneLine(field)} ${oneLine(message)}`;

function planText({ added, changed, removed, unchanged }: Plan): string {
  const line = (sign: string, { section, name }: Plan['removed'][number], reason?: string | null) =>
    `${sign} ${section} ${oneLine(name)}${typeof reason === 'string' ? ` (${reason})` : ''}`;
  return [
    ...added.map((entry) => line('+', entry, entry.reason)),
    ...changed.map((entry) => line('~', entry, entry.reason)),
    ...removed.map((entry) => line('-', entry)),
    `${added.length} to add, ${changed.length} to change, ${removed.length} to remove, ${unchanged} unchanged`,
  ].join('\n');
}
