import { rpcMethods } from '@model-gateway/contracts';
import { waitUntil, type TestAccount } from '@model-gateway/testkit';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';
import { importPrices } from './import-prices.ts';

let rpc: RpcServer;
let user: TestAccount;
beforeAll(async () => {
  rpc = await startRpc();
  user = await rpc.createAccount('user@example.com');
});
afterAll(() => rpc.test.close());

const set = (method: string, params: object) => rpc.call(method, params, ADMIN_TOKEN);

describe('token prices', () => {
  const priceOf = async (pattern: string) => {
    const { result } = await rpc.call('billing.pricing.get', {}, user.token);
    const { pricing } = rpcMethods['billing.pricing.get'].result.parse(result);
    return pricing.find((price) => price.pattern === pattern);
  };
  const price = (pattern: string, input: number | null, output: number | null) =>
    set('billing.pricing.set', {
      pattern,
      input_per_million: input,
      output_per_million: output,
    });

  it('override the built-in ones until they are removed', async () => {
    const builtIn = {
      pattern: 'gpt-4o',
      input_per_million: 2.5,
      output_per_million: 10,
      source: 'built-in',
    };
    expect(await priceOf('gpt-4o')).toEqual(builtIn);
    expect((await price('GPT-4o', 1, 0)).result).toEqual({ ok: true });
    expect(await priceOf('gpt-4o')).toEqual({
      pattern: 'gpt-4o',
      input_per_million: 1,
      output_per_million: 0,
      source: 'override',
    });
    await price('gpt-4o', null, null);
    expect(await priceOf('gpt-4o')).toEqual(builtIn);
    expect((await price('gpt-4o', null, null)).result).toEqual({ ok: true });
  });

  it('can be set for a model without a price', async () => {
    expect(await priceOf('our-model')).toBeUndefined();
    await price('our-model', 3, 4);
    expect(await priceOf('our-model')).toMatchObject({ source: 'override' });
    await price('our-model', null, null);
    expect(await priceOf('our-model')).toBeUndefined();
  });

  it('have parts besides tokens, and can be for one backend', async () => {
    const further = {
      cached_input_per_million: 0.1,
      cache_write_per_million: 1.25,
      audio_input_per_million: 32,
      audio_output_per_million: 64,
      cached_audio_input_per_million: 0.5,
      image_output_per_million: 30,
      per_image: 0.04,
      per_minute_audio: 0.006,
      per_request: 0.001,
    };
    const own = { pattern: 'gpt-4o', input_per_million: 1, output_per_million: 2, ...further };
    await set('billing.pricing.set', { ...own, backend: 'azure-1' });
    const { result } = await rpc.call('billing.pricing.get', {}, user.token);
    const { pricing } = rpcMethods['billing.pricing.get'].result.parse(result);
    expect(pricing.filter(({ pattern }) => pattern === 'gpt-4o')).toEqual([
      { pattern: 'gpt-4o', input_per_million: 2.5, output_per_million: 10, source: 'built-in' },
      { ...own, backend: 'azure-1', source: 'override' },
    ]);
    const nothing = { pattern: 'gpt-4o', input_per_million: null, output_per_million: null };
    await set('billing.pricing.set', nothing);
    expect((await set('billing.pricing.set', { ...nothing, per_image: 1 })).error?.code).toBe(
      -32_602,
    );
    await set('billing.pricing.set', { ...nothing, backend: 'azure-1' });
    const after = await rpc.call('billing.pricing.get', {}, user.token);
    expect(JSON.stringify(after.result)).not.toContain('azure-1');
  });

  const explain = (params: object) => rpc.call('billing.pricing.explain', params, user.token);

  it('are explained', async () => {
    expect((await explain({ model: 'gpt-4o-mini-2024-07-18' })).result).toEqual({
      model: 'gpt-4o-mini-2024-07-18',
      price: {
        source: 'built-in',
        pattern: 'gpt-4o-mini',
        input_per_million: 0.15,
        output_per_million: 0.6,
      },
      backends: [],
    });
    expect((await explain({ model: 'nobody-knows' })).result).toMatchObject({ price: null });
    const unknown = await explain({ model: 'm', backend: 'nowhere' });
    expect(unknown.error?.message).toBe("backend 'nowhere' is not registered");
  });

  it('are imported from a catalogue of several megabytes, and replaced', () =>
    importPrices({ set, explain, price }));

  it('are announced to the processes that use them', async () => {
    const messages: string[] = [];
    const subscription = await rpc.test.context.bus.channels.subscribe('prices', (message) =>
      messages.push(message),
    );
    await price('announced', 1, 1);
    await waitUntil(() => messages.length > 0);
    expect(messages).toEqual(['announced']);
    await subscription.close();
  });
});
