import { createRenewals } from './renewals.ts';

/** A call, and a promise that resolves when it was renewed so often. */
function call(times: number) {
  let count = 0;
  let tell: (() => void) | undefined;
  const isRenewed = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const renew = (): void => {
    count += 1;
    if (count === times) tell?.();
  };
  return { renew, isRenewed, count: () => count };
}

test('a call is renewed again and again while it runs, and no longer when it has ended', async () => {
  const renewals = createRenewals(5);
  const [long, ended, later] = [call(3), call(1), call(2)];
  renewals.add(long);
  renewals.add(ended);
  renewals.remove(ended);
  await long.isRenewed;
  renewals.remove(long);
  renewals.remove(long);
  const before = long.count();
  renewals.add(later);
  await later.isRenewed;
  renewals.remove(later);
  expect([ended.count(), long.count()]).toEqual([0, before]);
});

test('a call that begins after all others have ended is renewed too', async () => {
  const renewals = createRenewals(5);
  const first = call(1);
  renewals.add(first);
  await first.isRenewed;
  renewals.remove(first);
  // By then a timer that went on would have fired.
  const other = createRenewals(5);
  const pause = call(2);
  other.add(pause);
  await pause.isRenewed;
  other.remove(pause);
  const second = call(2);
  renewals.add(second);
  await second.isRenewed;
  renewals.remove(second);
});
