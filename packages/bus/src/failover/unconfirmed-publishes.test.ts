import { createUnconfirmedPublishes } from './unconfirmed-publishes.ts';

test('a publish that came out at the other end is recognized, equal texts one by one', () => {
  const publishes = createUnconfirmedPublishes();
  const first = publishes.begin('a', 'same');
  const second = publishes.begin('a', 'same');
  const elsewhere = publishes.begin('b', 'same');
  publishes.arrived('a', 'same');
  publishes.arrived('a', 'other');
  expect([first, second, elsewhere].map((publish) => publish.hasArrived())).toEqual([
    true,
    false,
    false,
  ]);
});

test('a channel is settled when every earlier publish on it has ended', async () => {
  const publishes = createUnconfirmedPublishes();
  const first = publishes.begin('a', '1');
  const second = publishes.begin('a', '2');
  let settled = false;
  const wait = publishes.settled('a').then(() => {
    settled = true;
  });
  first.end();
  await publishes.settled('b');
  expect(settled).toBe(false);
  second.end();
  await wait;
  await publishes.settled('a');
  expect(settled).toBe(true);
});
