import type { RpcAnswer } from '@model-gateway/testkit';

interface PriceCalls {
  readonly set: (method: string, params: object) => Promise<RpcAnswer>;
  readonly explain: (params: object) => Promise<RpcAnswer>;
  readonly price: (
    pattern: string,
    input: number | null,
    output: number | null,
  ) => Promise<RpcAnswer>;
}

/** Imports a catalogue of the size of LiteLLM's, and another one in its place. */
export async function importPrices({ set, explain, price }: PriceCalls): Promise<void> {
  const entry = (perToken: number) => ({
    input_cost_per_token: perToken,
    output_cost_per_token: 2e-6,
    cache_read_input_token_cost: 1e-7,
    mode: 'chat',
    notes: 'x'.repeat(700),
  });
  const many = Object.fromEntries(
    Array.from({ length: 2_800 }, (_, index) => [`provider/model-${index}`, entry(1e-6)]),
  );
  const catalogue = {
    sample_spec: entry(0),
    'GPT-4o': entry(5e-7),
    none: { mode: 'chat' },
    ...many,
  };
  const imported = await set('billing.pricing.import', { catalogue });
  expect(imported.result).toEqual({ imported: 2_801, skipped: 1, removed: 0 });
  expect((await explain({ model: 'gpt-4o' })).result).toMatchObject({
    price: { source: 'catalogue', input_per_million: 0.5, cached_input_per_million: 0.1 },
  });
  await price('gpt-4o', 9, 9);
  expect((await explain({ model: 'gpt-4o' })).result).toMatchObject({
    price: { source: 'override', input_per_million: 9 },
  });
  const replaced = await set('billing.pricing.import', {
    catalogue: { m: entry(1e-6) },
    mode: 'replace',
  });
  expect(replaced.result).toEqual({ imported: 1, skipped: 0, removed: 2_801 });
  expect((await explain({ model: 'provider/model-7' })).result).toMatchObject({ price: null });
  expect((await explain({ model: 'gpt-4o' })).result).toMatchObject({
    price: { source: 'override' },
  });
  await price('gpt-4o', null, null);
  await set('billing.pricing.import', { catalogue: {}, mode: 'replace' });
}
