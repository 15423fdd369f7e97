import { ServiceError, type AnswerPart } from '@model-gateway/contracts';
import { createMetrics, silentLog, systemClock } from '@model-gateway/kernel';
import {
  createUpstreamTelemetry,
  jwtCaller,
  type Grant,
  type Hook,
  type Meter,
} from '@model-gateway/inference';
import { UpstreamFailure, type Lease } from '@model-gateway/router';
import { createChatStreams, type ChatStreams } from './chat-streams.ts';

type ServedRequest = Parameters<Meter['record']>[0];

const chunk = (text: string): AnswerPart => ({ events: [{ type: 'text', text }] });
const FINISH: AnswerPart = { events: [{ type: 'finish', reason: 'stop' }] };

/** Streams whose upstream sends the given parts, with a listener from the start. */
function setup(
  parts: () => AsyncIterable<AnswerPart>,
  drainMs: number,
  hooks: readonly Hook[] = [],
) {
  const pushed: Record<string, unknown>[] = [];
  const settled: unknown[] = [];
  const metered: ServedRequest[] = [];
  /** What is stored for streams: their owners and processes. */
  const stored = new Set<string>();
  let refusal: Error | undefined;
  let onStopped = (): void => undefined;
  const lease: Lease = {
    model: 'm',
    backend: {
      name: 'up',
      kind: 'external',
      capabilities: () => new Set(['chat']),
      probe: async () => ({ state: 'Healthy', models: [] }),
      chatStream: async (_body, cancel) => {
        cancel.addEventListener('abort', () => onStopped(), { once: true });
        return { form: 'parts', parts: parts() };
      },
      close: async () => undefined,
    },
    nextKey: (failure) => ({ next: undefined, failure }),
    begun: () => undefined,
    lost: () => undefined,
    answered: async () => undefined,
    settle: async (outcome) => void settled.push(outcome),
  };
  const streams = createChatStreams({
    router: {
      choose: async () => {
        if (refusal !== undefined) throw refusal;
        return lease;
      },
    },
    telemetry: createUpstreamTelemetry({ metrics: createMetrics() }),
    meter: {
      record: async (served) => void metered.push(served),
      failed: () => undefined,
      unbilled: () => ({ prompt_tokens: 0, cost: null }),
    },
    requests: { accepted: () => undefined },
    hooks,
    sessions: {
      setOwner: async (sessionId) => void stored.add(`owner:${sessionId}`),
      removeOwner: async (sessionId) => void stored.delete(`owner:${sessionId}`),
      push: async (_sessionId, lines) => {
        for (const text of lines.split('\n'))
          pushed.push((JSON.parse(text) as { params: Record<string, unknown> }).params);
      },
      onListener: (_sessionId, onListener) => {
        queueMicrotask(onListener);
        return () => undefined;
      },
    },
    calls: {
      serve: async () => ({ close: async () => undefined }),
      call: async () => false,
    },
    entries: {
      get: async () => undefined,
      put: async (key) => void stored.add(key),
      remove: async (key) => void stored.delete(key),
    },
    clock: systemClock,
    metrics: createMetrics(),
    log: silentLog,
    drainMs,
  });
  return {
    streams,
    pushed,
    settled,
    metered,
    stored,
    refuse: (error: Error) => (refusal = error),
    whenStopped: (work: () => void) => (onStopped = work),
  };
}

const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const caller = jwtCaller('ann');

const tier = { name: 'free', monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: null };

/** Begins the turn of a user who is admitted. */
function begin(streams: ChatStreams): ReturnType<ChatStreams['begin']> {
  const grant: Grant = {
    epoch: undefined,
    caller,
    payer: { userId: 'ann', groupId: null, multiplier: 1, tier },
    limits: [],
    cacheTtlSecs: null,
    logsBodies: null,
  };
  const log = { caller, trace: undefined, model: undefined };
  const identity = { grant: async () => grant };
  const admitted = {
    grant,
    caller,
    body: { ...request, history: [] },
    resolvedModel: 'm',
    fallbacks: [],
    reservation: {
      id: '1',
      isHolding: false,
      end: () => undefined,
      extend: () => undefined,
      endCall: () => undefined,
    },
  };
  return streams.begin(
    { surface: 'rpc', identity, refId: null, startedAt: 0, log },
    Promise.resolve(admitted),
    { request, conversationId: undefined, onEnd: () => undefined, onFailure: () => undefined },
  );
}

test('a turn that no backend takes leaves nothing behind', async () => {
  const { streams, stored, refuse } = setup(async function* () {
    yield chunk('one');
  }, 10_000);
  await begin(streams);
  expect(stored.size).toBe(2);
  const before = [...stored];
  refuse(new ServiceError('model_not_found', 'No backend available for model: m'));
  await expect(begin(streams)).rejects.toThrow('No backend available');
  expect([...stored].every((key) => before.includes(key))).toBe(true);
  await streams.stop();
});

test('nothing is pushed before the caller knows the stream, however long a hook takes to store the turn', async () => {
  let store = (): void => undefined;
  const stored = new Promise<void>((resolve) => {
    store = resolve;
  });
  let begunToSend = (): void => undefined;
  const sending = new Promise<void>((resolve) => {
    begunToSend = resolve;
  });
  const hook: Hook = { before: async () => ({ accepted: () => stored }) };
  const { streams, pushed } = setup(
    async function* () {
      setImmediate(begunToSend);
      yield chunk('x'.repeat(100_000));
      yield FINISH;
    },
    10_000,
    [hook],
  );
  let isKnown = false;
  const begun = begin(streams).then(() => (isKnown = true));
  await sending;
  expect({ isKnown, pushed: pushed.length }).toEqual({ isKnown: false, pushed: 0 });
  store();
  await begun;
  await streams.stop();
  expect(pushed.map(({ is_complete }) => is_complete)).toEqual([false, true]);
});

test('a turn in progress finishes when the process stops', async () => {
  let proceed = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  const { streams, pushed } = setup(async function* () {
    yield chunk('one');
    await released;
    yield chunk(' two');
    yield FINISH;
  }, 10_000);
  const { stream_id: streamId } = await begin(streams);
  expect(streams.isRunning(streamId)).toBe(true);
  const stopping = streams.stop();
  proceed();
  await stopping;
  expect(streams.isRunning(streamId)).toBe(false);
  expect(pushed.map(({ token }) => token)).toEqual(['one', ' two', '']);
});

test('a turn that does not finish in time fails, and its upstream request is aborted', async () => {
  let end = (_failure: Error): void => undefined;
  const never = new Promise<never>((_resolve, reject) => {
    end = reject;
  });
  // The turn may be stopped before the upstream is asked for more.
  never.catch(() => undefined);
  const { streams, pushed, settled, whenStopped } = setup(async function* () {
    yield chunk('one');
    await never;
  }, 20);
  whenStopped(() => end(new Error('aborted')));
  const { stream_id } = await begin(streams);
  await streams.stop();
  const message = 'the service stopped before the response was complete';
  expect(pushed).toEqual([
    { stream_id, token: 'one', is_complete: false },
    {
      stream_id,
      token: `Stream error: ${message}`,
      is_complete: true,
      error: { code: -32_000, message },
    },
  ]);
  expect(settled[0]).toBe('left');
});

test('a turn that is stopped before its first visible token is metered with its reasoning, once', async () => {
  let end = (_failure: Error): void => undefined;
  const never = new Promise<never>((_resolve, reject) => {
    end = reject;
  });
  // The turn may be stopped before the upstream is asked for more.
  never.catch(() => undefined);
  const { streams, metered, whenStopped } = setup(async function* () {
    yield { events: [{ type: 'reasoning' as const, text: 'twelve chars' }] };
    await never;
  }, 20);
  whenStopped(() => end(new UpstreamFailure('aborted', { isBackendAtFault: false })));
  await begin(streams);
  await streams.stop();
  const usage = { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 };
  expect(metered).toEqual([expect.objectContaining({ surface: 'rpc', model: 'm', usage })]);
});

test('the user of a turn can stop it: its upstream request is aborted, and what was generated is metered', async () => {
  let end = (_failure: Error): void => undefined;
  const never = new Promise<never>((_resolve, reject) => {
    end = reject;
  });
  // The turn may be stopped before the upstream is asked for more.
  never.catch(() => undefined);
  const { streams, pushed, metered, settled, whenStopped } = setup(async function* () {
    yield chunk('twelve chars');
    await never;
  }, 10_000);
  whenStopped(() => end(new UpstreamFailure('aborted', { isBackendAtFault: false })));
  const { stream_id: streamId } = await begin(streams);
  expect(await streams.cancel('bob', streamId)).toBe(false);
  expect(streams.isRunning(streamId)).toBe(true);
  expect(await streams.cancel('ann', streamId)).toBe(true);
  await streams.stop();
  expect(await streams.cancel('ann', streamId)).toBe(false);
  expect(pushed.at(-1)).toMatchObject({
    is_complete: true,
    error: { code: -32_000, message: 'the response was stopped by chat.stop' },
  });
  expect(metered).toEqual([
    expect.objectContaining({
      usage: expect.objectContaining({ completion_tokens: 3 }),
      status: 499,
    }),
  ]);
  expect(settled[0]).toBe('left');
});

test('the number of streams of a process is limited', async () => {
  let proceed = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  const { streams } = setup(async function* () {
    await released;
    yield chunk('one');
  }, 10_000);
  for (let count = 0; count < 2_000; count += 1) await begin(streams);
  await expect(begin(streams)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  proceed();
  await streams.stop();
  await begin(streams);
  await streams.stop();
});
