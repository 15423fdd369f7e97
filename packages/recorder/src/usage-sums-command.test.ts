import type { CheckedDay } from '@model-gateway/billing';
import { runUsageSumsCommand } from './usage-sums-command.ts';

/** Two days, of which one differs until it is repaired; `staysWrong` cannot be repaired. */
function createCommand({ staysWrong = false } = {}) {
  let isWrong = true;
  async function* check({ repairs }: { readonly repairs: boolean }): AsyncIterable<CheckedDay> {
    yield { day: '2026-03-02', rows: 2, wrongLines: isWrong ? 5 : 0 };
    if (repairs) isWrong = staysWrong;
    yield { day: '2026-03-01', rows: 1, wrongLines: 0 };
  }
  return async (...args: readonly string[]) => {
    let printed = '';
    const print = (text: string): void => {
      printed += text;
    };
    return { code: await runUsageSumsCommand(args, { spendSums: { check }, print }), printed };
  };
}

test('a check says which days differ; a rebuild counts them again and proves that they are right', async () => {
  const run = createCommand();
  const differ = '2026-03-02  5 sums differed';
  expect(await run('check')).toEqual({
    code: 1,
    printed: `${differ}\n1 days differ: rebuild counts them again.\n`,
  });
  expect(await run('rebuild')).toEqual({
    code: 0,
    printed: `${differ}, counted again\nThe sums equal 3 rows.\n`,
  });
  expect(await run('check')).toEqual({ code: 0, printed: 'The sums equal 3 rows.\n' });
});

test('a rebuild that does not make them equal fails', async () => {
  expect((await createCommand({ staysWrong: true })('rebuild')).code).toBe(1);
});

test.each([[[]], [['else']], [['check', 'more']]])('%j prints the help', async (args) => {
  expect(await createCommand()(...args)).toEqual({
    code: 2,
    printed: expect.stringContaining('rebuild'),
  });
});
