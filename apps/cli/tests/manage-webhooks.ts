import { waitUntil } from '@model-gateway/testkit';
import type { CommandLine } from './command-line.ts';

/** Every command about webhooks, with one that nothing is delivered to. */
export async function manageWebhooks(gateway: CommandLine): Promise<void> {
  const url = 'https://93.184.215.14/hook';
  const { id, secret } = (await gateway.json(['webhooks', 'create', url, 'video.done'])) as {
    readonly id: string;
    readonly secret: string;
  };
  expect(secret).toMatch(/^whsec_/);
  expect((await gateway.runHere(['webhooks', 'list'])).stdout).toContain(url);
  const { event_id } = (await gateway.json(['webhooks', 'test', id])) as {
    readonly event_id: string;
  };
  await waitUntil(
    async () =>
      JSON.stringify(await gateway.json(['webhooks', 'deliveries', id])).includes(event_id),
    { what: 'the delivery' },
  );
  expect((await gateway.runHere(['webhooks', 'deliveries', id])).stdout).toContain('webhook.test');
  expect(await gateway.json(['webhooks', 'remove', id])).toEqual({ id, removed: true });
  expect(await gateway.runHere(['webhooks', 'remove', id])).toMatchObject({ status: 5 });
}
