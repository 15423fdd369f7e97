import { createBus } from '@model-gateway/bus';
import { silentLog } from '@model-gateway/kernel';

// What a child process does, by the first argument; the second says with which bus. It reports one line at a time.
const say = (line) => void process.stdout.write(`${line}\n`);

const commands = {
  async 'take and hang'(bus) {
    await bus.journal.drain(
      (batch) => {
        say(`took ${batch.length}`);
        return new Promise(() => setInterval(() => undefined, 60_000));
      },
      { batchSize: 10, signal: new AbortController().signal },
    );
  },
  async 'append and wait'(bus) {
    await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        bus.journal.append({ id: `child-${index}`, body: 'x' }),
      ),
    );
    say('appended');
    setInterval(() => undefined, 60_000);
  },
  async 'use and close'(bus) {
    const stop = new AbortController();
    const drained = bus.journal.drain(() => Promise.resolve(), {
      batchSize: 10,
      signal: stop.signal,
    });
    await bus.channels.subscribe('a', () => undefined);
    await bus.requests.serve('b', () => Promise.resolve(1));
    await bus.requests.call('b', {}, { timeoutMs: 1_000 });
    await bus.counters.add('c', 1, { expiresAfterMs: 1_000 });
    await bus.locks.acquire('d', 1_000);
    await bus.entries.put('g', 'h', { expiresAfterMs: 1_000 });
    await bus.journal.append({ id: 'e', body: 'f' });
    await Promise.all([bus.close(), bus.close()]);
    await drained;
    say('closed');
  },
};

const [, , command = '', options = '{}'] = process.argv;
const { redisUrl, dataDir, prefix } = JSON.parse(options);
const bus = createBus({ redisUrl, dataDir, prefix, log: silentLog });
await bus.start();
await commands[command]?.(bus);
