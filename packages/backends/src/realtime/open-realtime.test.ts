import { systemClock } from '@model-gateway/kernel';
import type { Backend, RealtimeLink, UpstreamEvent, UpstreamFailure } from '@model-gateway/router';
import {
  startEngine,
  startRealtimeApi,
  type RunningEngine,
  type RunningRealtimeApi,
} from '@model-gateway/testkit/upstreams';
import { createBackend } from '../factory/create-backend.ts';

const KEY = 'a-secret-realtime-key';
const MODEL = 'demo-realtime';
const timeouts = { connectMs: 30_000, idleMs: 30_000, totalMs: 30_000 };
const signal = new AbortController().signal;

let api: RunningRealtimeApi;
let engine: RunningEngine;
const opened: Backend[] = [];
beforeEach(async () => {
  api = await startRealtimeApi({ apiKey: KEY, answer: () => 'one two' });
  engine = await startEngine({ models: [MODEL] });
});
afterEach(async () => {
  for (const backend of opened.splice(0)) await backend.close();
  await Promise.all([api.close(), engine.close()]);
});

function backendOf(type: string, url: string, more: { capabilities?: string[] } = {}): Backend {
  const config = { name: type, type, url, apiKey: KEY, models: [], capabilities: null };
  const backend = createBackend({ ...config, ...more }, { timeouts, clock: systemClock });
  opened.push(backend);
  return backend;
}
const cloud = (path = ''): Backend =>
  backendOf('external', `${api.url.replace('ws', 'http')}${path}`);
const local = (): Backend => backendOf('engine', engine.url);

/** A session and everything that its upstream told. */
async function open(backend: Backend, config?: Record<string, unknown>, cancel = signal) {
  const events: UpstreamEvent[] = [];
  const closed: UpstreamFailure[] = [];
  const opening = {
    model: MODEL,
    config,
    onEvent: (event: UpstreamEvent) => events.push(event),
    onClosed: (reason: UpstreamFailure) => closed.push(reason),
  };
  const link = await backend.openRealtime?.(opening, cancel);
  if (link === undefined) throw new Error('it has no realtime');
  return { link, events, closed };
}
const typesOf = (events: readonly UpstreamEvent[]): readonly unknown[] =>
  events.map(({ event }) => event['type']);

async function untilThere(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

describe.each([
  { kind: 'external', backend: () => cloud(), openThere: () => api.openConnections },
  { kind: 'engine', backend: local, openThere: () => engine.openSessions },
])('a session of the kind $kind', ({ backend, openThere }) => {
  it('passes events both ways, the configuration first', async () => {
    const { link, events } = await open(backend(), { modalities: ['text'] });
    expect(link.send({ type: 'response.create' })).toBe(true);
    await untilThere(() => typesOf(events).includes('response.done'));
    expect(typesOf(events).slice(0, 3)).toEqual([
      'session.created',
      'session.updated',
      'response.created',
    ]);
    expect(typesOf(events)).toContain('response.text.done');
    for (const { event, text } of events) expect(JSON.parse(text)).toEqual(event);
  });

  it('ends at the upstream when it is closed, and reports nothing more', async () => {
    const { link, events, closed } = await open(backend());
    await untilThere(() => events.length === 1);
    link.close();
    link.close();
    await untilThere(() => openThere() === 0);
    expect({ events: events.length, closed }).toEqual({ events: 1, closed: [] });
  });

  it('reports once that its backend was closed', async () => {
    const closing = backend();
    const { link, closed } = await open(closing);
    await closing.close();
    await untilThere(() => openThere() === 0 && closed.length > 0);
    link.close();
    expect(closed).toHaveLength(1);
  });

  it('is not opened for a caller that has left', async () => {
    const left = new AbortController();
    const opening = open(backend(), undefined, left.signal);
    left.abort(new Error('the caller left'));
    await expect(opening).rejects.toThrow('the caller left');
    await untilThere(() => openThere() === 0);
  });
});

describe('an external backend', () => {
  it.each(['', '/', '/v1', '/v1/'])(
    'finds its sessions below a base with the path "%s"',
    async (path) => {
      const { link } = await open(cloud(path));
      link.close();
    },
  );

  it('reports the refusal of the upstream, without the key', async () => {
    await expect(open(cloud('/other'))).rejects.toMatchObject({
      message: 'upstream 404: Not Found',
      isBackendAtFault: false,
    });
    const nobody = backendOf('external', 'http://127.0.0.1:9');
    await expect(open(nobody)).rejects.toMatchObject({ isBackendAtFault: true });
  });

  it('passes errors on without the key', async () => {
    const { link, events } = await open(cloud());
    api.faults.next({ kind: 'error', message: `no such key: ${KEY}` });
    link.send({ type: 'response.create' });
    await untilThere(() => typesOf(events).includes('error'));
    const { event, text } = events.at(-1) ?? {};
    expect(event).toMatchObject({ error: { message: 'no such key: [redacted]' } });
    expect(JSON.parse(text ?? '')).toEqual(event);
  });

  it.each([
    {
      what: 'a response that failed',
      sent: {
        type: 'response.done',
        response: {
          id: 'r',
          status: 'failed',
          status_details: { type: 'failed', error: { message: `bad key ${KEY}` } },
          output: [{ text: `the answer quotes ${KEY}` }],
        },
      },
      expected: {
        response: {
          status_details: { error: { message: 'bad key [redacted]' } },
          output: [{ text: `the answer quotes ${KEY}` }],
        },
      },
    },
    {
      what: 'a part that failed',
      sent: {
        type: 'conversation.item.input_audio_transcription.failed',
        error: { message: `bad key ${KEY}` },
      },
      expected: { error: { message: 'bad key [redacted]' } },
    },
    {
      what: 'a complete response, which may quote it',
      sent: { type: 'response.done', response: { id: 'r', output: [{ text: KEY }] } },
      expected: { response: { output: [{ text: KEY }] } },
    },
  ])('passes $what on, without the key in its error', async ({ sent, expected }) => {
    const { events } = await open(cloud());
    api.sendToAll(JSON.stringify(sent));
    await untilThere(() => typesOf(events).includes(sent.type));
    const { event, text } = events.at(-1) ?? {};
    expect(event).toMatchObject(expected);
    expect(JSON.parse(text ?? '')).toEqual(event);
  });

  it('reports why the upstream ended a session, and logs only the code', async () => {
    const { closed } = await open(cloud());
    api.closeSessions(1008, 'quota of the upstream');
    await untilThere(() => closed.length === 1);
    expect(closed[0]).toMatchObject({
      message: 'the upstream closed the connection (1008: quota of the upstream)',
      loggedAs: 'the upstream closed the connection (1008)',
    });
  });

  it.each(['{"type": "cut', '[1]', '"text"', 'null'])(
    'ends a session that says %s',
    async (frame) => {
      const { closed } = await open(cloud());
      api.sendToAll(frame);
      await untilThere(() => closed.length === 1);
      await untilThere(() => api.openConnections === 0);
    },
  );

  it('serves realtime for models whose id says so, or for all when that was declared', () => {
    const declared = backendOf('external', 'http://127.0.0.1:9', { capabilities: ['realtime'] });
    const usual = cloud();
    expect(usual.serves?.('realtime', 'gpt-Realtime-mini')).toBe(true);
    expect(usual.serves?.('realtime', 'gpt-5')).toBe(false);
    expect(usual.serves?.('chat', 'gpt-5')).toBe(true);
    expect(declared).not.toHaveProperty('serves');
    expect([...declared.capabilities()]).toEqual(['realtime']);
  });
});

describe('an engine', () => {
  it('gets a stop for a session whose start comes too late', async () => {
    const backend = local();
    await backend.probe(signal);
    const left = new AbortController();
    engine.faults.next({ kind: 'slow', delayMs: 50 }, 1, 'Engine.RealtimeStart');
    const opening = open(backend, undefined, left.signal);
    await engine.until(() => engine.callsOf('Engine.RealtimeStart') === 1);
    left.abort(new Error('the caller left'));
    await expect(opening).rejects.toThrow('the caller left');
    await engine.until(() => engine.callsOf('Engine.RealtimeStop') === 1);
    expect(engine.openSessions).toBe(0);
  });

  it('keeps its sessions apart, and loses all of them with its connection', async () => {
    const backend = local();
    const talks = await Promise.all([open(backend), open(backend), open(backend)]);
    talks[0]?.link.send({ type: 'input_audio_buffer.clear' });
    await untilThere(() => talks[0]?.events.length === 2);
    expect(talks.map(({ events }) => events.length)).toEqual([2, 1, 1]);
    engine.dropConnections();
    await untilThere(() => talks.every(({ closed }) => closed.length === 1));
    const { link }: { link: RealtimeLink } = await open(backend);
    link.close();
    expect(engine.callsOf('Engine.Handshake')).toBe(2);
  });

  it('may end a session by itself', async () => {
    const { closed } = await open(local());
    engine.endSessions();
    await untilThere(() => closed.length === 1);
    expect(closed[0]?.message).toBe('the engine ended the session');
  });
});
