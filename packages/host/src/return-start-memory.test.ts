import { returnStartMemory } from './return-start-memory.ts';

it('forgets what nothing holds any more', async () => {
  const garbage = new WeakRef({ text: 'read once' });
  await returnStartMemory();
  expect(garbage.deref()).toBeUndefined();
});
