import type { RpcResult } from '@model-gateway/contracts';
import { Command } from 'commander';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { addSpendCommand } from './spend.ts';

const SUMS = {
  requests: 4,
  errors: 1,
  failed: 1,
  cancelled: 2,
  prompt_tokens: 1,
  completion_tokens: 2,
  cached_tokens: 0,
  total_tokens: 3,
  cost_usd: 0.5,
  points: 0,
};
const SUMMARY: RpcResult<'usage.summary'> = {
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-02T00:00:00.000Z',
  group_by: 'model',
  groups: [{ key: 'm', ...SUMS }],
  total: SUMS,
};

test('requests are all that were asked, and those that a client stopped are no errors', async () => {
  let answer: Answer | undefined;
  const context = { service: { call: async () => SUMMARY } } as unknown as CommandContext;
  const run: Runner =
    (handler) =>
    async (...given) => {
      answer = await (handler as (...all: readonly unknown[]) => Promise<Answer>)(
        context,
        ...given,
      );
    };
  const program = new Command();
  addSpendCommand(program, run);
  await program.parseAsync(['spend', '--by', 'model'], { from: 'user' });
  expect(answer?.text).toContain('5 requests, 1 error, 2 stopped, 3 tokens');
  const [titles = '', row = ''] = (answer?.text ?? '').split('\n');
  expect(titles.split(/\s{2,}/).slice(0, 4)).toEqual(['MODEL', 'REQUESTS', 'ERRORS', 'STOPPED']);
  expect(row.split(/\s+/).slice(0, 4)).toEqual(['m', '5', '1', '2']);
});
