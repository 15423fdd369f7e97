import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { disconnectSignal } from './disconnect-signal.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

class Response extends EventEmitter {
  destroyed = false;
  writableFinished = false;

  close(writableFinished: boolean): void {
    this.destroyed = true;
    this.writableFinished = writableFinished;
    this.emit('close');
  }
}

function begin(): {
  readonly response: Response;
  readonly client: ReturnType<typeof disconnectSignal>;
  ends: number;
} {
  const response = new Response();
  const begun = {
    response,
    client: disconnectSignal(response as unknown as ServerResponse),
    ends: 0,
  };
  begun.client.onEnd(() => (begun.ends += 1));
  return begun;
}

test.each([
  { what: 'a client that has the response', isFinished: true },
  { what: 'a client that left', isFinished: false },
])('tells of $what once', ({ isFinished }) => {
  const begun = begin();
  expect([begun.client.signal.aborted, begun.ends]).toEqual([false, 0]);
  begun.response.close(isFinished);
  expect([begun.client.signal.aborted, begun.ends]).toEqual([!isFinished, 1]);
  begun.client.onEnd(() => (begun.ends += 1));
  expect(begun.ends).toBe(2);
});

test('a client that left before is known at once', () => {
  const response = new Response();
  response.destroyed = true;
  expect(disconnectSignal(response as unknown as ServerResponse).signal.aborted).toBe(true);
});

test('a signal that is still held keeps nothing of its response in memory', async () => {
  const held = new Set<AbortSignal>();
  const responses: WeakRef<Response>[] = [];
  for (let count = 0; count < 10; count += 1) {
    const { response, client } = begin();
    held.add(client.signal);
    responses.push(new WeakRef(response));
    response.close(true);
  }
  // A reference that was just made lasts until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(responses.filter((response) => response.deref() !== undefined).length).toBeLessThan(2);
  expect(held.size).toBe(10);
});
