import { readFile } from 'node:fs/promises';
import type { PriceRecord, RpcResult } from '@model-gateway/contracts';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { count } from '../output/format.ts';
import { oneLine } from '../output/printable.ts';
import { table } from '../output/table.ts';

type Listed = RpcResult<'billing.pricing.get'>['pricing'][number];
type Explained = RpcResult<'billing.pricing.explain'>;

export function addPriceCommands(program: Command, run: Runner): void {
  const prices = program
    .command('prices')
    .summary('list, explain and import prices')
    .description('Prices: what requests cost, in USD.')
    .helpCommand(false);
  prices
    .command('list')
    .summary('list the prices')
    .description('List the built-in prices and those that an operator set or imported.')
    .addHelpText('after', '\nExample:\n  gateway prices list')
    .action(run(listPrices));
  prices
    .command('explain')
    .summary('show the price of a model')
    .description(
      'Show what a model costs on each backend that serves it, and where that comes from.',
    )
    .argument('<model>', 'the model')
    .argument('[backend]', 'one backend, whether it serves the model or not')
    .addHelpText('after', '\nExample:\n  gateway prices explain gpt-4o')
    .action(run(explainPrice));
  prices
    .command('import')
    .summary('import a catalogue')
    .description(
      "Import the prices of LiteLLM's model_prices_and_context_window.json. Needs the admin token.",
    )
    .argument('<file>', 'the catalogue')
    .option('--replace', 'remove prices of earlier imports that the catalogue does not have')
    .addHelpText(
      'after',
      '\nExample:\n  gateway prices import model_prices_and_context_window.json',
    )
    .action(run(importPrices));
}

async function listPrices({ service }: CommandContext): Promise<Answer> {
  const { pricing } = await service.call('billing.pricing.get', {});
  const text = table<Listed>(pricing, [
    { title: 'PATTERN', value: ({ pattern }) => pattern },
    { title: 'BACKEND', value: ({ backend = '' }) => backend },
    { title: 'USD', value: priceText },
    { title: 'SOURCE', value: ({ source }) => source },
  ]);
  return { json: pricing, text };
}

async function explainPrice(
  { service }: CommandContext,
  model: string,
  backend?: string,
): Promise<Answer> {
  const explained = await service.call('billing.pricing.explain', { model, backend });
  return { json: explained, text: explanationOf(explained) };
}

function explanationOf({ model, price, backends }: Explained): string {
  if (backends.length === 0) return `${oneLine(model)}: ${foundText(price)}`;
  return backends
    .map((one) => `${oneLine(one.model)}@${oneLine(one.backend)}: ${foundText(one.price)}`)
    .join('\n');
}

function foundText(price: PriceRecord | null): string {
  if (price === null) return 'no price; requests count by their tokens alone';
  const { source, pattern } = price;
  const origin = pattern === undefined ? source : `${source}, ${oneLine(pattern)}`;
  return `${priceText(price)} (${origin})`;
}

/** The parts of a price that are set. */
function priceText(price: PriceRecord): string {
  const parts = [
    `${price.input_per_million} in`,
    `${price.output_per_million} out`,
    part(price.cached_input_per_million, 'cached'),
    part(price.cache_write_per_million, 'cache write'),
    part(price.audio_input_per_million, 'audio in'),
    part(price.audio_output_per_million, 'audio out'),
    part(price.cached_audio_input_per_million, 'cached audio'),
    part(price.image_output_per_million, 'images out'),
  ].filter((text) => text !== undefined);
  const others = [
    part(price.per_image, 'an image'),
    part(price.per_minute_audio, 'a minute of audio'),
    part(price.per_request, 'a request'),
  ].filter((text) => text !== undefined);
  return [`${parts.join(', ')} per million tokens`, ...others].join('; ');
}

const part = (usd: number | undefined, unit: string): string | undefined =>
  usd === undefined ? undefined : `${usd} ${unit}`;

interface ImportOptions {
  readonly replace?: boolean;
}

async function importPrices(
  { service }: CommandContext,
  file: string,
  { replace = false }: ImportOptions,
): Promise<Answer> {
  const result = await service.callAsAdmin('billing.pricing.import', {
    catalogue: await readCatalogue(file),
    mode: replace ? 'replace' : 'merge',
  });
  const { imported, skipped, removed } = result;
  const text = `Imported ${count(imported)} prices, skipped ${count(skipped)} entries, removed ${count(removed)} prices.`;
  return { json: result, text };
}

type Catalogue = Record<string, Record<string, unknown>>;

/** The service checks the entries. */
async function readCatalogue(file: string): Promise<Catalogue> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Catalogue;
  } catch (cause) {
    throw new CliError(
      'usage',
      `cannot read ${JSON.stringify(file)} as JSON`,
      'Name a file in the form of model_prices_and_context_window.json.',
      cause,
    );
  }
}
