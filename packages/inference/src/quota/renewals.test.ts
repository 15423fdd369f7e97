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
  const ofLong = renewals.add(long);
  renewals.remove(renewals.add(ended));
  await long.isRenewed;
  renewals.remove(ofLong);
  renewals.remove(ofLong);
  const before = long.count();
  const ofLater = renewals.add(later);
  await later.isRenewed;
  renewals.remove(ofLater);
  expect([ended.count(), long.count()]).toEqual([0, before]);
});

test('a call that begins after all others have ended is renewed too', async () => {
  const renewals = createRenewals(5);
  const first = call(1);
  const ofFirst = renewals.add(first);
  await first.isRenewed;
  renewals.remove(ofFirst);
  // By then a timer that went on would have fired.
  const other = createRenewals(5);
  const pause = call(2);
  const ofPause = other.add(pause);
  await pause.isRenewed;
  other.remove(ofPause);
  const second = call(2);
  const ofSecond = renewals.add(second);
  await second.isRenewed;
  renewals.remove(ofSecond);
});
