import { requestNotice } from '@model-gateway/contracts';
import { manualClock, newId } from '@model-gateway/kernel';
import { createRequestWatches } from './request-watches.ts';

const [ANN, BEN, GROUP] = [newId(), newId(), newId()];
const allowed = async (): Promise<boolean> => true;

async function createScene() {
  const clock = manualClock(Date.UTC(2026, 2, 3));
  const pushed: { readonly stream: string; readonly added: number }[] = [];
  const owners = new Map<string, string>();
  let receive = (_message: string): void => undefined;
  const watches = createRequestWatches({
    channels: {
      subscribe: async (_channel, onMessage) => {
        receive = onMessage;
        return { close: async () => undefined };
      },
    },
    sessions: {
      setOwner: async (stream, owner) => void owners.set(stream, owner),
      push: async (stream, text) => {
        const { params } = JSON.parse(text) as { params: { added: number } };
        pushed.push({ stream, added: params.added });
      },
    },
    clock,
  });
  await watches.start();
  /** Resolves when the announcements have been decided. */
  async function written(...requests: Parameters<typeof requestNotice>[0]): Promise<void> {
    receive(requestNotice(requests));
    await Promise.resolve();
    await Promise.resolve();
  }
  return { watches, clock, pushed, owners, written, receive: (text: string) => receive(text) };
}

test('a stream announces the requests of its scope, and belongs to who asked for it', async () => {
  const { watches, pushed, owners, written, receive } = await createScene();
  const own = await watches.watch(ANN, { userId: ANN }, allowed);
  const group = await watches.watch(BEN, { groupId: GROUP }, allowed);
  const all = await watches.watch(BEN, {}, allowed);
  receive('nonsense');
  await written(
    { userId: ANN, groupId: null },
    { userId: BEN, groupId: GROUP },
    { userId: ANN, groupId: GROUP },
  );
  expect(pushed).toEqual([
    { stream: own.streamId, added: 2 },
    { stream: group.streamId, added: 2 },
    { stream: all.streamId, added: 3 },
  ]);
  expect(owners.get(own.streamId)).toBe(ANN);
  await watches.stop();
});

test('what follows at once waits, and is announced together', async () => {
  const { watches, pushed, written } = await createScene();
  await watches.watch(ANN, { userId: ANN }, allowed);
  for (let time = 0; time < 4; time += 1) await written({ userId: ANN, groupId: null });
  expect(pushed.map(({ added }) => added)).toEqual([1]);
  await watches.stop();
});

test('a stream ends by itself, and of too many of a user the oldest', async () => {
  const { watches, clock, pushed, written } = await createScene();
  const { expiresAt } = await watches.watch(BEN, { userId: ANN }, allowed);
  for (let count = 0; count < 11; count += 1) await watches.watch(ANN, { userId: ANN }, allowed);
  await written({ userId: ANN, groupId: null });
  expect(pushed).toHaveLength(11);
  clock.advance(expiresAt.getTime() - clock.now());
  await written({ userId: ANN, groupId: null });
  expect(pushed).toHaveLength(11);
  await watches.stop();
});

test('a stream ends with the right to watch', async () => {
  const { watches, pushed, written } = await createScene();
  const asked = [false];
  await watches.watch(ANN, { groupId: GROUP }, async () => asked.shift() ?? true);
  const kept = await watches.watch(BEN, { groupId: GROUP }, allowed);
  await written({ userId: ANN, groupId: GROUP });
  expect(asked).toEqual([]);
  expect(pushed).toEqual([{ stream: kept.streamId, added: 1 }]);
  await watches.stop();
});
