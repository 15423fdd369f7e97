import type { Command } from 'commander';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { oneLine } from '../output/printable.ts';
import { table } from '../output/table.ts';
import type { ExplainedRoute, ExplainedTarget } from '../service/explained-route.ts';

interface RouteOptions {
  readonly key?: string;
  readonly capability?: string;
  readonly provider?: string;
}

const PERCENT = 100;

export function addRouteCommand(program: Command, run: Runner): void {
  program
    .command('route')
    .summary('show where requests for a model go')
    .description(
      'Show which backends a request for a model would be sent to now, in this order, and why the others are passed over. Needs the admin token.',
    )
    .argument('<model>', 'the model as a request names it')
    .option('--key <id>', 'the id of an API key, whose rules and budget then count')
    .option('--capability <name>', 'what the backend must be able to do: chat, embeddings, …')
    .option('--provider <name>', 'the name or kind of the only backend, as in a request')
    .addHelpText('after', '\nExamples:\n  gateway route gpt-4o\n  gateway route best --json')
    .action(run(explain));
}

async function explain(
  { service }: CommandContext,
  model: string,
  options: RouteOptions,
): Promise<Answer> {
  const query = new URLSearchParams({ model, ...options });
  const path = `/api/admin/route?${query.toString()}`;
  const route = (await service.requestAsAdmin({ path })) as ExplainedRoute;
  const isServed = route.targets.some(({ position }) => position !== null);
  return {
    json: route,
    text: route.targets.length === 0 ? '' : targetTable(route.targets),
    ...(isServed ? {} : { note: `No backend would get a request for ${oneLine(model)} now.` }),
  };
}

function targetTable(targets: readonly ExplainedTarget[]): string {
  const isOnly = targets.filter(({ position }) => position !== null).length === 1;
  return table(targets, [
    { title: 'TRIED', isNumber: true, value: ({ position }) => String(position ?? '-') },
    { title: 'BACKEND', value: ({ backend }) => backend ?? '-' },
    { title: 'MODEL', value: ({ model }) => model ?? '-' },
    { title: 'PRIORITY', isNumber: true, value: ({ priority }) => String(priority ?? '-') },
    {
      title: 'SHARE',
      isNumber: true,
      value: ({ position, share: given }) => {
        const share = given ?? (isOnly && position !== null ? 1 : null);
        return share === null ? '-' : `${Math.round(share * PERCENT)} %`;
      },
    },
    { title: 'WHY NOT', value: whyNot },
  ]);
}

function whyNot({ reason, detail }: ExplainedTarget): string {
  const words = reason?.replaceAll('_', ' ');
  return [words, detail].filter((part) => typeof part === 'string').join(': ');
}
