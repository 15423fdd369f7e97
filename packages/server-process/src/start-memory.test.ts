import { silentLog, type Log } from '@model-gateway/kernel';
import { createStartMemory } from './start-memory.ts';

/** A log, and the first thing that is said in it. */
function listen(): { readonly log: Log; readonly said: Promise<string> } {
  let hear: (message: string) => void = () => undefined;
  const said = new Promise<string>((resolve) => {
    hear = resolve;
  });
  return { log: { ...silentLog, debug: (_fields, message) => hear(message) }, said };
}

it('forgets what nothing holds any more, as soon as the process is quiet', async () => {
  const { log, said } = listen();
  const garbage = new WeakRef({ text: 'read once' });
  const memory = createStartMemory({ log, windowMs: 20 });
  await memory.start();
  expect(await said).toBe('the memory of the start was returned');
  expect(garbage.deref()).toBeUndefined();
  await memory.stop();
});

it('leaves a busy process alone', async () => {
  const { log, said } = listen();
  const memory = createStartMemory({ log, windowMs: 20 });
  await memory.start();
  let isQuiet = false;
  void said.then(() => (isQuiet = true));
  const end = performance.now() + 200;
  while (performance.now() < end) await new Promise((resolve) => setImmediate(resolve));
  expect(isQuiet).toBe(false);
  await memory.stop();
});
