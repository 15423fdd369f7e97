import { verifyChain } from './verify-chain.ts';

/** Answers the calls in turn and keeps their params. */
function scripted(...answers: readonly object[]) {
  const asked: unknown[] = [];
  const call = async (_method: string, params: unknown) => {
    asked.push(params);
    return answers[asked.length - 1];
  };
  return { asked, api: { call } as unknown as Parameters<typeof verifyChain>[0] };
}

test('the chain is checked in steps, each from the end of the one before', async () => {
  const { api, asked } = scripted(
    { checked: 2, after: 2, hash: 'a', has_more: true, broken: null },
    { checked: 1, after: 3, hash: 'b', has_more: false, broken: null },
  );
  const progress: number[] = [];
  expect(await verifyChain(api, (checked) => void progress.push(checked))).toEqual({
    checked: 3,
    broken: undefined,
  });
  expect(progress).toEqual([2, 3]);
  expect(asked).toEqual([
    { after: null, hash: null },
    { after: 2, hash: 'a' },
  ]);
});

test('a broken entry ends the check', async () => {
  const broken = { seq: 2, reason: 'changed' };
  const { api, asked } = scripted({ checked: 1, after: 1, hash: 'a', has_more: true, broken });
  expect(await verifyChain(api, () => undefined)).toEqual({ checked: 1, broken });
  expect(asked).toHaveLength(1);
});
