import type { ChatMessage } from '@model-gateway/contracts';
import type { MemoryEvents } from './memory-events.ts';
import type { MemoryService } from './memory-service.ts';
import { createDisabledMemory, createMemory } from './memory.ts';

const unavailable = async (): Promise<never> => {
  throw new Error('unavailable');
};
const UNAVAILABLE: MemoryService = {
  recall: unavailable,
  write: unavailable,
  delete: unavailable,
  close: () => undefined,
};
const EMPTY: MemoryService = {
  recall: async () => [],
  write: async () => [],
  delete: async () => false,
  close: () => undefined,
};

/** A memory on a service, and what it recorded. */
function memoryOn(
  service: Partial<MemoryService>,
  writeback = true,
  isActive: () => Promise<boolean> = async () => true,
) {
  const recorded: unknown[] = [];
  const events: MemoryEvents = {
    record: (userId, kind, about) => void recorded.push({ userId, kind, ...about }),
    newest: async () => [],
    settled: async () => undefined,
  };
  const memory = createMemory({
    service: { ...EMPTY, ...service },
    events,
    writeback,
    isActive,
  });
  return { memory, events, recorded };
}
const ask = (content: string): ChatMessage[] => [{ role: 'user', content }];

describe('recall', () => {
  test('requests at most five memories of the user, and returns them', async () => {
    const asked: unknown[] = [];
    const { memory, recorded } = memoryOn({
      recall: async (...question) => {
        asked.push(question);
        return Array.from({ length: 7 }, (_, index) => ({
          nodeId: `n${index}`,
          text: `t${index}`,
        }));
      },
    });
    const { state, message } = await memory.recall('ann', ask('tea?'), true);
    expect(asked).toEqual([['ann', 'tea?', 5]]);
    expect(state).toBe('enabled');
    expect(message?.role).toBe('system');
    expect(message?.content).toMatch(/- t4$/);
    expect(recorded).toEqual([
      { userId: 'ann', kind: 'recall', nodeIds: ['n0', 'n1', 'n2', 'n3', 'n4'] },
    ]);
  });

  test('that finds nothing adds nothing', async () => {
    const { memory, recorded } = memoryOn({});
    expect(await memory.recall('ann', ask('tea?'), true)).toEqual({ state: 'enabled' });
    expect(recorded).toEqual([{ userId: 'ann', kind: 'recall', nodeIds: [] }]);
  });

  test('of an unavailable service is offline, and an event', async () => {
    const { memory, recorded } = memoryOn(UNAVAILABLE);
    expect(await memory.recall('ann', ask('tea?'), true)).toEqual({ state: 'offline' });
    expect(recorded).toEqual([{ userId: 'ann', kind: 'error', detail: 'recall: unavailable' }]);
  });

  test('that is switched off is disabled, and calls nothing', async () => {
    const { memory, recorded } = memoryOn(UNAVAILABLE);
    expect(await memory.recall('ann', ask('tea?'), false)).toEqual({ state: 'disabled' });
    expect(recorded).toEqual([]);
  });

  test('calls nothing without a query', async () => {
    const { memory } = memoryOn(UNAVAILABLE);
    expect(await memory.recall('ann', ask(' '), true)).toEqual({ state: 'enabled' });
  });

  test('is injected once: messages that bring it are left as they are', async () => {
    const { memory } = memoryOn({ recall: async () => [{ nodeId: 'n', text: 'likes tea' }] });
    const { message } = await memory.recall('ann', ask('tea?'), true);
    const again = message === undefined ? [] : [message, ...ask('tea?')];
    expect(await memory.recall('ann', again, true)).toEqual({ state: 'enabled' });
  });
});

describe('write-back', () => {
  const turn: ChatMessage[] = [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: [{ type: 'text', text: 'tea?' }, { type: 'image_url' }] },
    { role: 'tool', content: 'kettle: on' },
    { role: 'assistant', content: 'yes' },
    { role: 'assistant', content: null, tool_calls: [] },
  ];

  test('writes what user and assistant said, in the background', async () => {
    const written: unknown[] = [];
    const { memory, recorded } = memoryOn({
      write: async (...what) => {
        written.push(what);
        return ['n1', 'n2'];
      },
    });
    memory.writeBack('ann', turn);
    await memory.stop();
    expect(written).toEqual([
      [
        'ann',
        [
          { role: 'user', content: 'tea?' },
          { role: 'assistant', content: 'yes' },
        ],
      ],
    ]);
    expect(recorded).toEqual([{ userId: 'ann', kind: 'write', nodeIds: ['n1', 'n2'] }]);
  });

  test('that fails is an event', async () => {
    const { memory, recorded } = memoryOn(UNAVAILABLE);
    memory.writeBack('ann', turn);
    await memory.stop();
    expect(recorded).toEqual([{ userId: 'ann', kind: 'error', detail: 'write: unavailable' }]);
  });

  test.each([
    { why: 'it is switched off', writeback: false, messages: turn },
    { why: 'nothing was said', writeback: true, messages: turn.slice(4) },
  ])('does nothing when $why', async ({ writeback, messages }) => {
    const { memory, recorded } = memoryOn(UNAVAILABLE, writeback);
    memory.writeBack('ann', messages);
    await memory.stop();
    expect(recorded).toEqual([]);
  });

  test('writes nothing of a user who was erased during the turn', async () => {
    const { memory, recorded } = memoryOn(UNAVAILABLE, true, async () => false);
    memory.writeBack('ann', turn);
    await memory.stop();
    expect(recorded).toEqual([]);
  });

  test('deletes what was written while the user was erased', async () => {
    let isErased = false;
    const deleted: unknown[] = [];
    const { memory, recorded } = memoryOn(
      {
        write: async () => {
          isErased = true;
          return ['n1', 'n2'];
        },
        delete: async (...what) => {
          deleted.push(what);
          return true;
        },
      },
      true,
      async () => !isErased,
    );
    memory.writeBack('ann', turn);
    await memory.stop();
    expect(deleted).toEqual([
      ['ann', 'n1'],
      ['ann', 'n2'],
    ]);
    expect(recorded).toEqual([]);
  });

  test('drops what is too much, and records it', () => {
    const { memory, recorded } = memoryOn({ write: () => new Promise(() => undefined) });
    for (let index = 0; index < 209; index += 1) memory.writeBack('ann', turn);
    expect(recorded).toEqual([
      { userId: 'ann', kind: 'error', detail: 'write: too many turns wait to be written' },
    ]);
  });
});

describe('deleting', () => {
  test('is an event when there was something to delete', async () => {
    const { memory, recorded } = memoryOn({ delete: async (_user, nodeId) => nodeId === 'mine' });
    expect(await memory.delete('ann', 'theirs')).toBe(false);
    expect(await memory.delete('ann', 'mine')).toBe(true);
    expect(recorded).toEqual([{ userId: 'ann', kind: 'delete', nodeIds: ['mine'] }]);
  });

  test('fails when the service is unavailable', async () => {
    const { memory, recorded } = memoryOn(UNAVAILABLE);
    await expect(memory.delete('ann', 'mine')).rejects.toMatchObject({
      code: 'bad_gateway',
      message: 'the memory service is not available',
    });
    expect(recorded).toEqual([{ userId: 'ann', kind: 'error', detail: 'delete: unavailable' }]);
  });
});

test('the status shows what is switched on', async () => {
  const { memory, events } = memoryOn({}, false);
  expect(await memory.status('ann')).toEqual({ enabled: true, writeback: false, events: [] });
  const disabled = createDisabledMemory(events);
  expect(await disabled.status('ann')).toEqual({ enabled: false, writeback: false, events: [] });
});

test('without a service nothing is remembered', async () => {
  const memory = createDisabledMemory(memoryOn({}).events);
  expect(await memory.recall('ann', ask('tea?'), true)).toEqual({ state: 'disabled' });
  expect(await memory.delete('ann', 'n')).toBe(false);
  memory.writeBack('ann', ask('tea?'));
  await memory.stop();
});
