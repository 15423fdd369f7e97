import { manualClock } from '@model-gateway/kernel';
import { createRecentAppends } from './recent-appends.ts';

const entry = (id: string) => ({ id, body: `{"of":"${id}","says":"ä𝄞\n"}` });

test('what was appended within three seconds is in doubt, and is taken once', () => {
  const clock = manualClock(0);
  const recent = createRecentAppends({ clock });
  recent.add([entry('a'), entry('b')]);
  clock.advance(2_000);
  recent.add([entry('c')]);
  clock.advance(1_000);
  recent.add([entry('d')]);
  expect(recent.takeAll()).toEqual([entry('c'), entry('d')]);
  expect(recent.takeAll()).toEqual([]);
  recent.add([entry('e')]);
  clock.advance(3_000);
  expect(recent.takeAll()).toEqual([]);
});

test('a long stream of appends leaves the last three seconds', () => {
  const clock = manualClock(0);
  const recent = createRecentAppends({ clock });
  for (let count = 0; count < 10_000; count += 1) {
    recent.add([entry(String(count))]);
    clock.advance(1);
  }
  const doubted = recent.takeAll();
  expect(doubted.map(({ id }) => id)).toEqual(
    Array.from({ length: 2_999 }, (_, index) => String(7_001 + index)),
  );
});
