import { createRpcClient } from '../src/index.ts';

const client = createRpcClient({
  baseUrl: 'http://nowhere',
  fetch: async () => new Response('{"jsonrpc":"2.0","id":"","result":{}}'),
});

test('params and results have the types of their method', async () => {
  const text = async (): Promise<string> => {
    const { key } = await client.call('keys.create', { name: 'mine' });
    return key;
  };
  const [usage] = await Promise.all([client.call('usage.list'), text()]);
  const total: number = usage.total;
  expect(total).toBeUndefined();

  // The compiler refuses each of these.
  // @ts-expect-error: there is no such method
  await client.call('keys.forget');
  // @ts-expect-error: params are required
  await client.call('keys.create');
  // @ts-expect-error: a param is of another type
  await client.call('keys.create', { name: 1 });
  // @ts-expect-error: a batch is checked like calls
  await client.batch([{ method: 'keys.create' }]).catch(() => undefined);
});
