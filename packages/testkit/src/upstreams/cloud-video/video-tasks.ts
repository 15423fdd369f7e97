import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@model-gateway/demo-model/answers';

/** The states of a task in the API. */
export type VideoTaskStatus = 'Preparing' | 'Queueing' | 'Processing' | 'Success' | 'Fail';

/** One submitted task. */
export interface VideoTask {
  readonly taskId: string;
  readonly fileId: string;
  readonly idempotencyKey: string | undefined;
  readonly body: JsonObject;
  readonly status: VideoTaskStatus;
  readonly error: string | undefined;
  /** How often its state was queried. */
  readonly polls: number;
  /** The times of the queries, in milliseconds of a monotonic clock. */
  readonly polledAt: readonly number[];
}

/** The tasks of a video API. */
export interface VideoTasks {
  /** A new task, or the earlier one of the same key. */
  submit(body: JsonObject, idempotencyKey: string | undefined): VideoTask;
  /** Counts a poll and advances the task by one step, unless `set` was called. */
  poll(taskId: string): VideoTask | undefined;
  set(taskId: string, status: VideoTaskStatus, error?: string): void;
  forget(taskId: string): void;
  byFile(fileId: string): VideoTask | undefined;
  readonly all: readonly VideoTask[];
  readonly count: number;
}

const KEPT_TASKS_MAX = 1_000;

/** A task starts with the first step and stays at the last one; without steps only `set` changes it. */
export function createVideoTasks(steps: readonly VideoTaskStatus[]): VideoTasks {
  const tasks = new Map<string, VideoTask>();
  const byKey = new Map<string, string>();
  const byHand = new Set<string>();
  let count = 0;

  function change(taskId: string, patch: Partial<VideoTask>): VideoTask | undefined {
    const task = tasks.get(taskId);
    if (task === undefined) return undefined;
    const changed = { ...task, ...patch };
    tasks.set(taskId, changed);
    return changed;
  }

  function forget(taskId: string): void {
    const key = tasks.get(taskId)?.idempotencyKey;
    if (key !== undefined) byKey.delete(key);
    byHand.delete(taskId);
    tasks.delete(taskId);
  }
  function forgetOldest(): void {
    const [oldest] = tasks.keys();
    if (tasks.size > KEPT_TASKS_MAX && oldest !== undefined) forget(oldest);
  }

  return {
    submit(body, idempotencyKey) {
      const earlier = idempotencyKey === undefined ? undefined : byKey.get(idempotencyKey);
      const known = earlier === undefined ? undefined : tasks.get(earlier);
      if (known !== undefined) return known;
      const taskId = randomUUID();
      const fileId = randomUUID();
      const start = { status: steps[0] ?? 'Queueing', error: undefined, polls: 0, polledAt: [] };
      const task: VideoTask = { taskId, fileId, idempotencyKey, body, ...start };
      tasks.set(taskId, task);
      count += 1;
      forgetOldest();
      if (idempotencyKey !== undefined) byKey.set(idempotencyKey, taskId);
      return task;
    },
    poll(taskId) {
      const task = tasks.get(taskId);
      if (task === undefined) return undefined;
      const step = steps[Math.min(task.polls, steps.length - 1)];
      const moved = step === undefined || byHand.has(taskId) ? {} : { status: step };
      const polledAt = [...task.polledAt, performance.now()];
      return change(taskId, { polls: task.polls + 1, polledAt, ...moved });
    },
    set(taskId, status, error) {
      if (change(taskId, { status, error }) !== undefined) byHand.add(taskId);
    },
    forget,
    byFile: (fileId) => [...tasks.values()].find((task) => task.fileId === fileId),
    get all() {
      return [...tasks.values()];
    },
    get count() {
      return count;
    },
  };
}
