import { ServiceError, type ChatMessage } from '@model-gateway/contracts';
import { describeError, withTimeout } from '@model-gateway/kernel';
import { createBackgroundWork } from './background-work.ts';
import type { MemoryEvent, MemoryEvents } from './memory-events.ts';
import type { MemoryService, RememberedMessage } from './memory-service.ts';
import { beginningOf, messageText } from '../chat/message-text.ts';
import { isRecalled, recallMessage, recallQuery } from './recall-message.ts';

/** The state of the recall of a turn. */
export type MemoryState = 'enabled' | 'disabled' | 'offline';

export interface Recall {
  readonly state: MemoryState;
  /** The message to prepend; undefined when nothing was recalled. */
  readonly message?: ChatMessage;
}

export interface MemoryStatus {
  readonly enabled: boolean;
  readonly writeback: boolean;
  /** The newest first. */
  readonly events: readonly MemoryEvent[];
}

/** Long-term memory for turns. A failure of it never fails a turn. */
export interface Memory {
  /** Whether there is a memory service. */
  readonly isConfigured: boolean;
  /** Never rejects and never takes longer than the timeout. A request with `memory: false` is `disabled`. */
  recall(userId: string, messages: readonly ChatMessage[], isEnabled: boolean): Promise<Recall>;
  /** Returns at once; the messages of a completed turn with memory are written back in the background. */
  writeBack(userId: string, messages: readonly ChatMessage[]): void;
  status(userId: string): Promise<MemoryStatus>;
  /** False when the user has no such node. Rejects when the service is unavailable. */
  delete(userId: string, nodeId: string): Promise<boolean>;
  /**
   * Deletes the memories of a user: those that are named, and those that the service still returns. `failed` when some may be
   * left; it can be repeated.
   */
  forget(userId: string, nodeIds: readonly string[]): Promise<'removed' | 'none' | 'failed'>;
  /** Waits for the current write-backs, up to a timeout. */
  stop(): Promise<void>;
}

interface MemoryDependencies {
  readonly service: MemoryService;
  readonly events: MemoryEvents;
  /** Whether completed turns are written back. */
  readonly writeback: boolean;
  /** False for a user who was erased or deactivated, which may happen during a turn. */
  readonly isActive: (userId: string) => Promise<boolean>;
}

const NODES_MAX = 5;
const WRITTEN_CHARS_MAX = 32_000;
const WRITES_AT_ONCE_MAX = 8;
const WRITES_WAITING_MAX = 200;
const STOP_TIMEOUT_MS = 5_000;
/** The service can list memories only by a query; it returns the closest ones, however far they are. */
const FORGET_QUERY = 'everything about the user';
const FORGOTTEN_AT_ONCE = 50;
const FORGET_ROUNDS_MAX = 200;

export function createMemory(dependencies: MemoryDependencies): Memory {
  const { service, events, writeback, isActive } = dependencies;
  const writes = createBackgroundWork({
    atOnceMax: WRITES_AT_ONCE_MAX,
    waitingMax: WRITES_WAITING_MAX,
  });
  const failed = (userId: string, what: string, error: unknown): void =>
    events.record(userId, 'error', { detail: `${what}: ${describeError(error)}` });

  async function write(userId: string, messages: readonly RememberedMessage[]): Promise<void> {
    try {
      if (!(await isActive(userId))) return;
      const nodeIds = await service.write(userId, messages);
      // The memories of a user who was erased meanwhile were deleted, perhaps before this one was there.
      if (await isActive(userId)) events.record(userId, 'write', { nodeIds });
      else await deleteAll(userId, nodeIds);
    } catch (error) {
      failed(userId, 'write', error);
    }
  }

  /** Whether the user had any of these memories. */
  async function deleteAll(userId: string, nodeIds: readonly string[]): Promise<boolean> {
    let isAnyDeleted = false;
    for (const nodeId of nodeIds) {
      const isDeleted = await service.delete(userId, nodeId);
      isAnyDeleted ||= isDeleted;
    }
    return isAnyDeleted;
  }

  return {
    isConfigured: true,
    async recall(userId, messages, isEnabled) {
      if (!isEnabled) return DISABLED;
      const query = recallQuery(messages);
      if (query === '' || isRecalled(messages)) return NOTHING_RECALLED;
      try {
        const nodes = (await service.recall(userId, query, NODES_MAX)).slice(0, NODES_MAX);
        events.record(userId, 'recall', { nodeIds: nodes.map(({ nodeId }) => nodeId) });
        const message = recallMessage(nodes);
        return message === undefined ? NOTHING_RECALLED : { state: 'enabled', message };
      } catch (error) {
        failed(userId, 'recall', error);
        return OFFLINE;
      }
    },
    writeBack(userId, messages) {
      const remembered = writeback ? rememberedOf(messages) : [];
      if (remembered.length === 0) return;
      if (!writes.add(() => write(userId, remembered)))
        failed(userId, 'write', 'too many turns wait to be written');
    },
    status: async (userId) => ({ enabled: true, writeback, events: await events.newest(userId) }),
    async delete(userId, nodeId) {
      try {
        const isDeleted = await service.delete(userId, nodeId);
        if (isDeleted) events.record(userId, 'delete', { nodeIds: [nodeId] });
        return isDeleted;
      } catch (error) {
        failed(userId, 'delete', error);
        throw new ServiceError('bad_gateway', 'the memory service is not available', {
          cause: error,
        });
      }
    },
    async forget(userId, nodeIds) {
      try {
        await deleteAll(userId, nodeIds);
        for (let round = 0; round < FORGET_ROUNDS_MAX; round += 1) {
          const nodes = await service.recall(userId, FORGET_QUERY, FORGOTTEN_AT_ONCE);
          if (nodes.length === 0) return 'removed';
          // A service that returns what it has deleted would be asked forever.
          if (
            !(await deleteAll(
              userId,
              nodes.map(({ nodeId }) => nodeId),
            ))
          )
            return 'failed';
        }
        return 'failed';
      } catch {
        return 'failed';
      }
    },
    async stop() {
      await withTimeout(writes.idle(), STOP_TIMEOUT_MS).catch(() => undefined);
      service.close();
      await events.settled();
    },
  };
}

const DISABLED: Recall = { state: 'disabled' };
const OFFLINE: Recall = { state: 'offline' };
const NOTHING_RECALLED: Recall = { state: 'enabled' };

/** Without a memory service: turns use no memory, and earlier events can still be read. */
export function createDisabledMemory(events: Pick<MemoryEvents, 'newest'>): Memory {
  return {
    isConfigured: false,
    recall: async () => DISABLED,
    writeBack: () => undefined,
    status: async (userId) => ({
      enabled: false,
      writeback: false,
      events: await events.newest(userId),
    }),
    delete: async () => false,
    forget: async () => 'none',
    stop: async () => undefined,
  };
}

/** The texts of user and assistant. */
function rememberedOf(messages: readonly ChatMessage[]): RememberedMessage[] {
  return messages.flatMap(({ role, content }) => {
    if (role !== 'user' && role !== 'assistant') return [];
    const text = beginningOf(messageText({ content }).trim(), WRITTEN_CHARS_MAX);
    return text === '' ? [] : { role, content: text };
  });
}
