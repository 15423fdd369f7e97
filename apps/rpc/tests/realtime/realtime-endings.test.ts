import { sessionOwnerKey } from '@model-gateway/contracts';
import { fullTable, waitUntil } from '@model-gateway/testkit';
import {
  startEngine,
  startRealtimeApi,
  type RunningEngine,
  type RunningRealtimeApi,
} from '@model-gateway/testkit/upstreams';
import { startChatScene, type ChatScene } from '../chat/chat-scene.ts';
import { startRealtimeTalk, type RealtimeTalk } from './realtime-scene.ts';

const SESSION_NOT_FOUND = { code: -32_000, message: 'session not found' };

let scene: ChatScene;
let api: RunningRealtimeApi;
let engine: RunningEngine;
beforeAll(async () => {
  scene = await startChatScene();
  api = await startRealtimeApi({ models: ['a-realtime'], answer: () => 'one two three' });
  engine = await startEngine({ models: ['robot'] });
  await scene.addBackend('api', api.url.replace('ws', 'http'));
  await scene.addBackend('eng', engine.url, 'engine');
});
afterAll(async () => {
  await scene.test.close();
  await Promise.all([api.close(), engine.close()]);
});
afterEach(() => {
  api.faults.clear();
  engine.faults.clear();
});

const start = (params: object = {}): Promise<RealtimeTalk> =>
  startRealtimeTalk(scene.ann, scene.url, { model: 'a-realtime', ...params });
const openHere = async (): Promise<number> => {
  const metrics = await (await fetch(`${scene.url}/metrics`)).text();
  return Number(/^service_realtime_sessions (\d+)$/m.exec(metrics)?.[1]);
};
const openThere = (): number => api.openConnections + engine.openSessions;

/** Checks that the session is removed everywhere. */
async function expectRemoved(talk: RealtimeTalk): Promise<void> {
  const { sessionId, streamId } = talk;
  const { entries, requests } = scene.test.context.bus;
  await waitUntil(async () => (await openHere()) === 0 && openThere() === 0);
  expect(await talk.refusal()).toEqual(SESSION_NOT_FOUND);
  await waitUntil(async () => (await entries.get(sessionOwnerKey(streamId))) === undefined);
  await expect(
    requests.call(`realtime:${sessionId}`, {}, { timeoutMs: 60_000 }),
  ).rejects.toMatchObject({ reason: 'unreachable' });
  talk.close();
}

describe('a session is removed completely', () => {
  const endings: readonly {
    why: string;
    model: string;
    end: (talk: RealtimeTalk) => unknown;
  }[] = [
    { why: 'that is stopped', model: 'a-realtime', end: (talk) => talk.stop() },
    { why: 'that is stopped at an engine', model: 'robot', end: (talk) => talk.stop() },
    { why: 'whose upstream fails', model: 'a-realtime', end: () => api.closeSessions(1011, 'no') },
    {
      why: 'whose upstream is lost in the middle of a response',
      model: 'a-realtime',
      end: (talk) => {
        api.faults.next({ kind: 'cut', afterDeltas: 2 });
        return talk.say({ type: 'response.create' });
      },
    },
    {
      why: 'whose upstream sends invalid JSON',
      model: 'a-realtime',
      end: (talk) => {
        api.faults.next({ kind: 'garbage' });
        return talk.say({ type: 'response.create' });
      },
    },
    {
      why: 'whose engine is lost',
      model: 'robot',
      end: () => {
        engine.dropConnections();
      },
    },
    {
      why: 'whose client sends session.stop',
      model: 'robot',
      end: (talk) => talk.say({ type: 'session.stop' }),
    },
    { why: 'whose upstream closes it', model: 'a-realtime', end: () => api.closeSessions(1000) },
    {
      why: 'whose upstream sends a value that is not an event',
      model: 'a-realtime',
      end: () => api.sendToAll('[7]'),
    },
    { why: 'that the engine ends', model: 'robot', end: () => engine.endSessions() },
  ];

  test.each(fullTable(endings, { small: 6 }))('$why', async ({ model, end }) => {
    const talk = await start({ model });
    await talk.next();
    expect(await openHere()).toBe(1);
    expect(openThere()).toBe(1);
    await end(talk);
    await expectRemoved(talk);
  });

  test('and its client gets the reason, if the upstream is gone', async () => {
    const talk = await start();
    await talk.next();
    api.closeSessions(1011, 'internal detail');
    expect((await talk.until('error')).at(-1)).toEqual({
      type: 'error',
      error: {
        type: 'server_error',
        code: 'bad_gateway',
        message: 'the upstream ended the session',
        param: null,
      },
    });
    await expectRemoved(talk);
  });

  test('that was never opened', async () => {
    const refused = (model: string) => scene.ann.refusal('realtime.start', { model });
    engine.faults.next({ kind: 'error', message: 'out of memory' }, 1, 'Engine.RealtimeStart');
    expect(await refused('robot')).toEqual({
      code: -32_000,
      message: 'upstream -32000: out of memory',
    });
    engine.faults.next({ kind: 'close' }, 1, 'Engine.RealtimeStart');
    expect(await refused('robot')).toMatchObject({ code: -32_000 });
    await waitUntil(async () => (await openHere()) === 0 && openThere() === 0);
  });
});

test('many sessions of one engine share its connection and end one by one', async () => {
  const before = engine.callsOf('Engine.Handshake');
  const talks = await Promise.all(Array.from({ length: 5 }, () => start({ model: 'robot' })));
  expect(engine.openSessions).toBe(5);
  expect(engine.callsOf('Engine.Handshake') - before).toBeLessThanOrEqual(1);
  await talks[0]?.stop();
  await engine.until(() => engine.openSessions === 4);
  for (const talk of talks.slice(1)) await talk.respond();
  for (const talk of talks) {
    await talk.stop();
    talk.close();
  }
  await engine.until(() => engine.openSessions === 0);
  expect(engine.openConnections).toBe(1);
});

test('a session continues when its backend is registered again or removed', async () => {
  const talk = await start();
  expect(await scene.removeBackend('api')).toBe(true);
  expect((await talk.respond()).at(-1)).toMatchObject({ type: 'response.done' });
  await scene.addBackend('api', api.url.replace('ws', 'http'));
  const next = await start();
  await talk.respond();
  await talk.stop();
  await next.respond();
  await next.stop();
  await expectRemoved(talk);
  next.close();
});

test('the transcript before the loss of the upstream is stored', async () => {
  const id = await scene.conversation();
  const talk = await start({ conversation_id: id });
  api.faults.next({ kind: 'cut', afterDeltas: 4 });
  await talk.say({ type: 'response.create' });
  await waitUntil(async () => (await scene.messages(id)).length === 1);
  expect(await scene.messages(id)).toMatchObject([{ role: 'assistant', content: 'one two' }]);
  talk.close();
});

describe('a response that is not completed when its session ends is metered by estimate', () => {
  const input = [
    {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'twenty characters :)' }],
    },
  ];
  const request = { type: 'response.create', response: { input } };
  const config = { instructions: 'be brief', tools: [{ type: 'function', name: 'f' }] };
  // 20 characters of the message, 8 of the instructions, 32 of the tools.
  const prompt_tokens = 5 + 2 + 8;

  beforeEach(() => scene.usage());
  const row = async () => {
    await waitUntil(async () => (await scene.test.context.bus.journal.lag()) > 0);
    return scene.usage();
  };

  test('when the client stops it', async () => {
    const talk = await start({ config });
    api.faults.next({ kind: 'silent' });
    await talk.say(request);
    api.sendToAll(JSON.stringify({ type: 'response.created', response: { id: 'r1' } }));
    for (const type of [
      'response.audio_transcript.delta',
      'response.function_call_arguments.delta',
    ])
      api.sendToAll(JSON.stringify({ type, response_id: 'r1', delta: 'eight ch' }));
    api.sendToAll(
      JSON.stringify({ type: 'response.audio.delta', response_id: 'r1', delta: 'AAAA' }),
    );
    await talk.until('response.audio.delta');
    await talk.stop();
    expect(await row()).toMatchObject([
      {
        backend: 'realtime',
        model: 'a-realtime',
        prompt_tokens,
        completion_tokens: 4,
        status: 499,
      },
    ]);
    await expectRemoved(talk);
  });

  test('when the upstream is lost', async () => {
    const talk = await start({ config });
    api.faults.next({ kind: 'cut', afterDeltas: 4 });
    await talk.say(request);
    expect(await row()).toMatchObject([{ prompt_tokens, completion_tokens: 2, status: 502 }]);
    await expectRemoved(talk);
  });

  test('when it was requested and nothing of it has come', async () => {
    const talk = await start({ config });
    api.faults.next({ kind: 'silent' });
    await talk.say(request);
    await talk.stop();
    expect(await row()).toMatchObject([{ prompt_tokens, completion_tokens: 0 }]);
    await expectRemoved(talk);
  });

  test('with what the user said', async () => {
    const talk = await start({ config });
    api.faults.next({ kind: 'silent' });
    // Three seconds of PCM16 with 16 kHz, of which each has ten tokens.
    const audio = Buffer.alloc(3 * 32_000).toString('base64');
    await talk.say({ type: 'input_audio_buffer.append', audio });
    await talk.say({ type: 'input_audio_buffer.commit' });
    await talk.until('input_audio_buffer.committed');
    await talk.say({ type: 'response.create' });
    await talk.stop();
    expect(await row()).toMatchObject([{ prompt_tokens: 2 + 8 + 30, completion_tokens: 0 }]);
    await expectRemoved(talk);
  });

  test('and a completed one once, as the upstream reports it', async () => {
    const talk = await start({ config });
    const done = (await talk.respond()).at(-1) as { response: { usage: { total_tokens: number } } };
    await talk.stop();
    await expectRemoved(talk);
    expect(await scene.usage()).toMatchObject([{ total_tokens: done.response.usage.total_tokens }]);
  });

  test('also if the upstream sends its end twice, which the client sees as it came', async () => {
    const talk = await start({ config });
    const done = (await talk.respond()).at(-1) as { response: { usage: { total_tokens: number } } };
    api.sendToAll(JSON.stringify(done));
    expect(await talk.next()).toEqual(done);
    const second = (await talk.respond()).at(-1) as typeof done;
    await talk.stop();
    await expectRemoved(talk);
    expect(await scene.usage()).toMatchObject(
      [second, done].map(({ response }) => ({ total_tokens: response.usage.total_tokens })),
    );
  });
});

test('a conversation that is deleted meanwhile does not end the session', async () => {
  const id = await scene.conversation();
  const talk = await start({ conversation_id: id });
  await scene.ann.call('conversations.delete', { conversation_id: id });
  expect((await talk.respond()).at(-1)).toMatchObject({ type: 'response.done' });
  await talk.stop();
  talk.close();
});

test('an unresponsive upstream does not delay other sessions', async () => {
  api.faults.always({ kind: 'silent' });
  const talk = await start();
  for (let n = 0; n < 20; n += 1) await talk.say({ type: 'response.create' });
  await talk.stop();
  await expectRemoved(talk);
});

test('the session is congested while its upstream reads too slowly', async () => {
  const talk = await start();
  api.faults.next({ kind: 'stop-reading' }, 1, 'input_audio_buffer.append');
  const audio = 'A'.repeat(900_000);
  const event = { type: 'input_audio_buffer.append', audio };
  // Without pauses: an upstream that reads nothing for long also misses its pings.
  const answers = await Promise.allSettled(Array.from({ length: 40 }, () => talk.say(event)));
  const accepted = answers.filter((answer) => answer.status === 'fulfilled').length;
  expect(accepted).toBeGreaterThan((16 * 1024 * 1024) / 900_100 - 1);
  expect(answers.at(-1)).toMatchObject({
    status: 'rejected',
    reason: { message: expect.stringContaining('session is congested') },
  });
  expect(await openHere()).toBe(1);
  api.resumeReading();
  await waitUntil(async () => {
    await talk.say({ type: 'response.create' });
    return true;
  });
  await talk.until('response.done');
  await talk.stop();
  await expectRemoved(talk);
});

test('a user may have 50 sessions in a process', async () => {
  const ids: string[] = [];
  const begin = async (): Promise<void> => {
    const started = await scene.ann.call('realtime.start', { model: 'robot' });
    ids.push((started as { session_id: string }).session_id);
  };
  await Promise.all(Array.from({ length: 50 }, begin));
  expect(await scene.ann.refusal('realtime.start', { model: 'robot' })).toEqual({
    code: -32_000,
    message: 'too many realtime sessions: at most 50 may be open',
  });
  await scene.bob.call('realtime.start', { model: 'robot' });
  await scene.ann.call('realtime.stop', { session_id: ids[0] });
  await begin();
  engine.endSessions();
  await waitUntil(async () => (await openHere()) === 0);
});

test('a stopping process ends its sessions and opens no new ones', async () => {
  const own = await startChatScene();
  await own.addBackend('api', api.url.replace('ws', 'http'));
  await own.addBackend('eng', engine.url, 'engine');
  const spoken = await startRealtimeTalk(own.ann, own.url, { model: 'robot' });
  const talk = await startRealtimeTalk(own.ann, own.url, { model: 'a-realtime' });
  const id = await own.conversation();
  const other = await startRealtimeTalk(own.ann, own.url, {
    model: 'a-realtime',
    conversation_id: id,
  });
  await api.until(() => api.openConnections === 2);
  await engine.until(() => engine.openSessions === 1);
  await own.test.close();
  await api.until(() => api.openConnections === 0);
  await engine.until(() => engine.openSessions === 0);
  spoken.close();
  talk.close();
  other.close();
});
