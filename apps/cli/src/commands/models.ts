import type { Command } from 'commander';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { count } from '../output/format.ts';
import { table } from '../output/table.ts';
import type { ListedModel } from '../service/listed-model.ts';

const MILLION = 1_000_000;

export function addModelsCommand(program: Command, run: Runner): void {
  program
    .command('models')
    .summary('list the models')
    .description(
      'List the models with what is known about them. Suggested ones are not served yet: add a backend\n' +
        'that has them, or deploy them on a GPU node. They are listed last.',
    )
    .addHelpText('after', '\nExamples:\n  gateway models\n  gateway models --json')
    .action(run(listModels));
}

async function listModels({ service }: CommandContext): Promise<Answer> {
  const { data } = (await service.get('/v1/models')) as { readonly data: readonly ListedModel[] };
  const models = data.toSorted(
    (left, right) =>
      Number(isSuggested(left)) - Number(isSuggested(right)) || (left.id < right.id ? -1 : 1),
  );
  return {
    json: { models },
    text: models.length === 0 ? '' : modelTable(models),
    ...(models.every(isSuggested)
      ? { note: 'No model can be used yet. Add a backend: gateway backends add --help' }
      : {}),
  };
}

const isSuggested = ({ status }: ListedModel): boolean => status === 'suggested';

function modelTable(models: readonly ListedModel[]): string {
  return table(models, [
    { title: 'MODEL', value: ({ id }) => id },
    { title: 'STATE', value: (model) => (isSuggested(model) ? 'not served' : 'ready') },
    { title: 'FROM', value: ({ owned_by, alias_of }) => alias_of ?? owned_by },
    {
      title: 'CONTEXT',
      isNumber: true,
      value: ({ context_length }) =>
        typeof context_length === 'number' ? count(context_length) : '-',
    },
    { title: 'USD/M IN', isNumber: true, value: ({ pricing }) => perMillion(pricing?.prompt) },
    { title: 'USD/M OUT', isNumber: true, value: ({ pricing }) => perMillion(pricing?.completion) },
  ]);
}

/** Prices come per token. */
const perMillion = (price: string | null | undefined): string =>
  typeof price !== 'string' ? '-' : String(Number((Number(price) * MILLION).toPrecision(12)));
