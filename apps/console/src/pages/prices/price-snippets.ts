import type { Snippet } from '../../ui/code-snippets.ts';

const call = (baseUrl: string, method: string, params: object): string =>
  [
    `curl ${baseUrl}/api/rpc -H "authorization: Bearer $SERVICE_ADMIN_TOKEN" \\`,
    `  -d '${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}'`,
  ].join('\n');

/** The calls that change a price or a tier. */
export const priceSnippets = (baseUrl: string): readonly Snippet[] => [
  {
    name: 'billing.pricing.set',
    code: call(baseUrl, 'billing.pricing.set', {
      pattern: 'my-model',
      input_per_million: 0.5,
      output_per_million: 1.5,
    }),
  },
  {
    name: 'billing.tiers.set',
    code: call(baseUrl, 'billing.tiers.set', { name: 'team', monthly_usd_quota: 100, rpm: 600 }),
  },
];
