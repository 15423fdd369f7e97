import type { RpcResult } from '@model-gateway/contracts';
import { Option, type Command } from 'commander';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { moment } from '../output/format.ts';
import { oneLine } from '../output/printable.ts';
import { printedSecret } from '../output/printed-secret.ts';
import { table } from '../output/table.ts';
import { wholeNumber } from './arguments.ts';

type Webhook = RpcResult<'webhooks.list'>['webhooks'][number];
type Delivery = RpcResult<'webhooks.deliveries'>['deliveries'][number];

const FORMATS = ['standard', 'slack'] as const;
const LIMIT_MAX = 200;

interface CreateOptions {
  readonly format: (typeof FORMATS)[number];
  readonly group?: string;
}

export function addWebhookCommands(program: Command, run: Runner): void {
  const webhooks = program
    .command('webhooks')
    .summary('send events to a URL')
    .description('Webhooks of the platform (platform admins), or of a group (its admins).')
    .helpCommand(false);
  webhooks
    .command('create')
    .summary('create a webhook and print its signing secret')
    .description('Create a webhook and print its signing secret. It is shown only once.')
    .argument('<url>', 'where the events are sent')
    .argument('<event...>', 'which events, such as budget.threshold')
    .addOption(
      new Option('--format <format>', 'the shape of a body').choices(FORMATS).default('standard'),
    )
    .option('--group <id>', 'only the events of this group')
    .addHelpText(
      'after',
      '\nExample:\n  gateway webhooks create https://hooks.example.com/gateway budget.threshold key.expiring',
    )
    .action(run(createWebhook));
  webhooks
    .command('list')
    .summary('list webhooks')
    .description('List the webhooks that you may manage, the oldest first.')
    .option('--group <id>', 'only those of this group')
    .addHelpText('after', '\nExample:\n  gateway webhooks list --json')
    .action(run(listWebhooks));
  webhooks
    .command('remove')
    .summary('remove a webhook')
    .description('Remove a webhook with its deliveries.')
    .argument('<id>', 'the id of the webhook')
    .addHelpText(
      'after',
      '\nExample:\n  gateway webhooks remove 6d0c1f0e-6f5f-4a0e-9a35-0c3c5d9d2b11',
    )
    .action(run(removeWebhook));
  webhooks
    .command('test')
    .summary('send a test event')
    .description('Send the event webhook.test; look at its delivery afterwards.')
    .argument('<id>', 'the id of the webhook')
    .addHelpText(
      'after',
      '\nExample:\n  gateway webhooks test 6d0c1f0e-6f5f-4a0e-9a35-0c3c5d9d2b11',
    )
    .action(run(testWebhook));
  webhooks
    .command('deliveries')
    .summary('list what was sent')
    .description('List the deliveries of a webhook, the newest first.')
    .argument('<id>', 'the id of the webhook')
    .option('--limit <count>', 'how many', wholeNumber('--limit', 1, LIMIT_MAX), 20)
    .addHelpText(
      'after',
      '\nExample:\n  gateway webhooks deliveries 6d0c1f0e-6f5f-4a0e-9a35-0c3c5d9d2b11 --limit 5',
    )
    .action(run(listDeliveries));
}

async function createWebhook(
  { service }: CommandContext,
  url: string,
  events: readonly string[],
  { format, group }: CreateOptions,
): Promise<Answer> {
  const created = await service.call('webhooks.create', {
    url,
    // The service says which ones it knows.
    events: events as Webhook['events'],
    format,
    ...(group === undefined ? {} : { group_id: group }),
  });
  return {
    json: created,
    text: printedSecret(created.secret, 'signing secret'),
    note: `Created ${oneLine(created.id)}. Store the signing secret now: it is shown only once.`,
  };
}

async function listWebhooks(
  { service }: CommandContext,
  { group }: { readonly group?: string },
): Promise<Answer> {
  const listed = await service.call('webhooks.list', {
    limit: LIMIT_MAX,
    ...(group === undefined ? {} : { group_id: group }),
  });
  const { webhooks } = listed;
  return {
    json: listed,
    text: webhooks.length === 0 ? '' : webhookTable(webhooks),
    ...(webhooks.length === 0 ? { note: 'No webhooks.' } : {}),
  };
}

const webhookTable = (webhooks: readonly Webhook[]): string =>
  table(webhooks, [
    { title: 'URL', value: ({ url }) => url },
    { title: 'EVENTS', value: ({ events }) => events.join(', ') },
    { title: 'FORMAT', value: ({ format }) => format },
    { title: 'GROUP', value: ({ group_id }) => group_id ?? '-' },
    { title: 'ID', value: ({ id }) => id },
  ]);

async function removeWebhook({ service }: CommandContext, id: string): Promise<Answer> {
  await service.call('webhooks.remove', { webhook_id: id });
  return { json: { id, removed: true }, text: `Removed ${id}.` };
}

async function testWebhook({ service }: CommandContext, id: string): Promise<Answer> {
  const sent = await service.call('webhooks.test', { webhook_id: id });
  return {
    json: sent,
    text: oneLine(sent.event_id),
    note: `See how it went: gateway webhooks deliveries ${id}`,
  };
}

async function listDeliveries(
  { service }: CommandContext,
  id: string,
  { limit }: { readonly limit: number },
): Promise<Answer> {
  const listed = await service.call('webhooks.deliveries', { webhook_id: id, limit });
  const { deliveries } = listed;
  return {
    json: listed,
    text: deliveries.length === 0 ? '' : deliveryTable(deliveries),
    ...(deliveries.length === 0 ? { note: 'No deliveries.' } : {}),
  };
}

const deliveryTable = (deliveries: readonly Delivery[]): string =>
  table(deliveries, [
    { title: 'EVENT', value: ({ event }) => event },
    { title: 'STATUS', value: ({ status }) => status },
    { title: 'ATTEMPTS', value: ({ attempts }) => String(attempts) },
    { title: 'ANSWER', value: ({ response_status }) => String(response_status ?? '-') },
    { title: 'CREATED', value: ({ created_at }) => moment(created_at) },
    { title: 'NEXT', value: ({ next_attempt_at }) => moment(next_attempt_at) },
    { title: 'ERROR', value: ({ error }) => error ?? '' },
  ]);
