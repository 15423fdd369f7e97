import { rpcCall, waitUntil } from '@model-gateway/testkit';
import {
  startEngine,
  startRealtimeApi,
  type RunningEngine,
  type RunningRealtimeApi,
} from '@model-gateway/testkit/upstreams';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { signIn, startChatScene, type ChatScene, type TestUser } from '../chat/chat-scene.ts';
import { startRealtimeTalk, type RealtimeTalk } from './realtime-scene.ts';

const SESSION_NOT_FOUND = { code: -32_000, message: 'session not found' };

let scene: ChatScene;
/** A second server with the same stores: like another process. */
let otherUrl = '';
let api: RunningRealtimeApi;
let engine: RunningEngine;
beforeAll(async () => {
  scene = await startChatScene();
  const config = readRpcConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' });
  otherUrl = await scene.test.serve(createRpc(config, scene.test.context));
  api = await startRealtimeApi({ models: ['a-realtime'], answer: () => 'one two' });
  engine = await startEngine({ models: ['robot'] });
  await scene.addBackend('api', api.url.replace('ws', 'http'));
  await scene.addBackend('eng', engine.url, 'engine');
});
afterAll(async () => {
  await scene.test.close();
  await Promise.all([api.close(), engine.close()]);
});

const talkOf = (user: TestUser): Promise<RealtimeTalk> =>
  startRealtimeTalk(user, scene.url, { model: 'a-realtime' });

/** The first account is the admin. It calls the server that has no sessions. */
async function setActive(user: TestUser, active: boolean): Promise<void> {
  const admin = await signIn(otherUrl, 'ann@example.com');
  await admin.call('users.update', { user_id: user.id, active });
}

async function end(talks: readonly RealtimeTalk[]): Promise<void> {
  for (const talk of talks) {
    await talk.stop();
    talk.close();
  }
}

test('the sessions of a deactivated user end on every server, and no others', async () => {
  const user = await scene.createUser('leaves');
  const [talk, staying] = [await talkOf(user), await talkOf(scene.bob)];
  await scene.usage();
  api.faults.next({ kind: 'silent' });
  await talk.say({ type: 'response.create', response: { instructions: 'sixteen letters!' } });
  await setActive(user, false);
  await api.until(() => api.openConnections === 1);
  // What was begun is still paid.
  await waitUntil(async () => (await scene.test.context.bus.journal.lag()) > 0);
  expect(await scene.usage()).toMatchObject([{ user_id: user.id, prompt_tokens: 4 }]);
  expect((await staying.respond()).at(-1)).toMatchObject({ type: 'response.done' });
  talk.close();
  await setActive(user, true);
  const again = await signIn(scene.url, 'leaves@example.com');
  const { sessionId } = talk;
  const event = { type: 'response.create' };
  expect(await again.refusal('realtime.event', { session_id: sessionId, event })).toEqual(
    SESSION_NOT_FOUND,
  );
  const next = await talkOf(again);
  expect((await next.respond()).at(-1)).toMatchObject({ type: 'response.done' });
  await end([staying, next]);
});

test('a session ends with the sign-in that started it, and not with another one', async () => {
  await scene.createUser('twice');
  const [leaving, staying] = [
    await signIn(scene.url, 'twice@example.com'),
    await signIn(scene.url, 'twice@example.com'),
  ];
  const [ending, going] = [await talkOf(leaving), await talkOf(staying)];
  await rpcCall(otherUrl, 'auth.logout', {}, leaving.token);
  await api.until(() => api.openConnections === 1);
  expect((await going.respond()).at(-1)).toMatchObject({ type: 'response.done' });
  ending.close();
  await end([going]);
});

test('a session that is being opened while its user is deactivated does not stay open', async () => {
  const user = await scene.createUser('late');
  const before = engine.callsOf('Engine.RealtimeStart');
  engine.faults.next({ kind: 'slow', delayMs: 1_000 }, 1, 'Engine.RealtimeStart');
  const starting = user.refusal('realtime.start', { model: 'robot' }).catch(() => undefined);
  await engine.until(() => engine.callsOf('Engine.RealtimeStart') === before + 1);
  await setActive(user, false);
  await starting;
  await engine.until(() => engine.openSessions === 0);
});
