import type { RpcResult } from '@model-gateway/contracts';
import type { Api } from '../api/api.ts';
import { askSummary } from './summary.ts';

const sums = {
  requests: 4,
  errors: 3,
  failed: 2,
  cancelled: 1,
  prompt_tokens: 1,
  completion_tokens: 2,
  cached_tokens: 0,
  total_tokens: 3,
  cost_usd: 0.5,
  points: 0,
};
const answer: RpcResult<'usage.summary'> = {
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-02T00:00:00.000Z',
  group_by: 'model',
  groups: [
    { key: 'm', ...sums },
    { key: 'refused', ...sums, requests: 0, errors: 2, cancelled: 0 },
  ],
  total: { ...sums, requests: 4, failed: 4 },
};

test('requests are all that were asked, and errors are a part of them', async () => {
  const asked: unknown[] = [];
  const api = {
    async call(...call: readonly unknown[]) {
      asked.push(call.slice(0, 2));
      return answer;
    },
  } as Pick<Api, 'call'>;
  const params = { group_by: 'model' } as const;
  const { groups, total } = await askSummary(api, params, { signal: new AbortController().signal });
  expect(asked).toEqual([['usage.summary', params]]);
  expect(total).toMatchObject({ requests: 8, errors: 3, cancelled: 1 });
  expect(groups).toMatchObject([
    { key: 'm', requests: 6, errors: 3 },
    { key: 'refused', requests: 2, errors: 2 },
  ]);
  expect([total, ...groups].some((each) => 'failed' in each)).toBe(false);
});
