import { MISTAKES } from './table.ts';
import { openWorld, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test.each(MISTAKES)(
  '$by, $mistake: the message says what is wrong and what to do, and nothing is tried in vain',
  async (mistake) => {
    const { status, message, requests } = await world.make(mistake);
    expect({ status, requests, message }).toMatchObject({ status: mistake.status, requests: 1 });
    for (const words of mistake.says) expect(message).toMatch(words);
  },
);
