import { REQUESTS_CHANNEL, requestNotice } from '@model-gateway/contracts';
import { rpcCall } from '@model-gateway/testkit';
import { startRealtimeApi, type RunningRealtimeApi } from '@model-gateway/testkit/upstreams';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { eventsUrl, startChatScene, type ChatScene } from '../chat/chat-scene.ts';
import { openSocket, openStream, type TestStream } from '../rpc-server.ts';

// Whatever stays open ends with the right to it. A new kind of stream, and a new way to lose a right, is a line of a table.

const PASSWORD = 'long enough';

let scene: ChatScene;
/** A second server with the same stores: like another process. Rights end there. */
let otherUrl = '';
let api: RunningRealtimeApi;
let people = 0;

/** Somebody who has signed in, and is an admin of the group and of the platform. */
interface Person {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly refreshToken: string;
  readonly groupId: string;
}

beforeAll(async () => {
  scene = await startChatScene();
  const config = readRpcConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' });
  otherUrl = await scene.test.serve(createRpc(config, scene.test.context));
  api = await startRealtimeApi({ models: ['a-realtime'], answer: () => 'one two' });
  await scene.addBackend('api', api.url.replace('ws', 'http'));
});
afterAll(async () => {
  await scene.test.close();
  await api.close();
});

async function must(method: string, params: object, token?: string, url = scene.url) {
  const { result, error } = await rpcCall(url, method, params, token);
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result as Readonly<Record<'id' | 'access_token' | 'refresh_token', string>> &
    Readonly<Record<string, string>>;
}

const logIn = (email: string) => must('auth.login', { email, password: PASSWORD });

async function newPerson(): Promise<Person> {
  people += 1;
  const { id } = await scene.createUser(`person-${people}`);
  const email = `person-${people}@example.com`;
  // The first account is the admin.
  await must('users.update', { user_id: id, is_admin: true }, scene.ann.token);
  const { id: groupId } = await must('group.create', { name: 'team' }, scene.bob.token);
  const member = { group_id: groupId, email, role: 'admin' };
  await must('group.members.add', member, scene.bob.token);
  const { access_token: token, refresh_token: refreshToken } = await logIn(email);
  return { id, email, token, refreshToken, groupId };
}

/** Something that stays open; `expectOver` fails unless it ends. */
interface Open {
  readonly expectOver: () => Promise<void>;
}

/** A watch whose stream is opened without a token: knowing its id is enough. */
async function watch(
  { token, groupId }: Pick<Person, 'token' | 'groupId'>,
  scope: string,
): Promise<TestStream> {
  const params = { scope, ...(scope === 'group' ? { group_id: groupId } : {}) };
  const { stream_id = '' } = await must('requests.watch', params, token);
  const stream = await openStream(eventsUrl(scene.url, stream_id));
  expect(await stream.next()).toBe(': connected');
  return stream;
}

const openWatch =
  (scope: string) =>
  async (person: Person): Promise<Open> => {
    const { id, groupId } = person;
    const control = await watch({ token: scene.ann.token, groupId }, 'all');
    const watching = await watch(person, scope);
    const announce = async (): Promise<void> => {
      const notice = requestNotice([{ userId: id, groupId }]);
      await scene.test.context.bus.channels.publish(REQUESTS_CHANNEL, notice);
      expect(await control.next()).toContain('"requests.changed"');
    };
    await announce();
    expect(await watching.next()).toContain('"requests.changed"');
    return {
      async expectOver() {
        const heard = watching.next().catch(() => 'nothing');
        await announce();
        await announce();
        for (const stream of [watching, control]) stream.close();
        expect(await heard).toBe('nothing');
      },
    };
  };

const STREAMS: Readonly<Record<string, (person: Person) => Promise<Open>>> = {
  async 'an event stream'({ token }) {
    const stream = await openStream(`${scene.url}/api/rpc/events?session=mine&token=${token}`);
    expect(await stream.next()).toBe(': connected');
    return {
      expectOver: () => expect(stream.next()).rejects.toThrow('the stream ended'),
    };
  },
  async 'a WebSocket'({ token }) {
    const { closed } = await openSocket(scene.url, token);
    return { expectOver: async () => expect(await closed).toBe(4401) };
  },
  async 'a realtime session'({ token }) {
    const before = api.openConnections;
    await must('realtime.start', { model: 'a-realtime' }, token);
    expect(api.openConnections).toBe(before + 1);
    return { expectOver: () => api.until(() => api.openConnections === before) };
  },
  'a watch of the own requests': openWatch('self'),
  'a watch of the requests of a group': openWatch('group'),
  'a watch of all requests': openWatch('all'),
};

const ofGroup = ['a watch of the requests of a group'];
const ofPlatform = ['a watch of all requests'];

const ENDS: readonly {
  readonly what: string;
  /** Without it the right to everything ends. */
  readonly ended?: readonly string[];
  readonly end: (person: Person) => Promise<unknown>;
}[] = [
  { what: 'auth.logout', end: ({ token }) => must('auth.logout', {}, token, otherUrl) },
  {
    what: 'a refresh token that is used twice',
    async end({ refreshToken: refresh_token }) {
      await must('auth.refresh', { refresh_token }, undefined, otherUrl);
      const reused = await rpcCall(otherUrl, 'auth.refresh', { refresh_token });
      expect(reused.error).toBeDefined();
    },
  },
  {
    what: 'a password that was changed elsewhere',
    async end({ email }) {
      const { access_token: token } = await logIn(email);
      const params = { current: PASSWORD, next: 'another password' };
      await must('auth.password.change', params, token, otherUrl);
    },
  },
  {
    what: 'a reset link that was used',
    async end({ id }) {
      const { token } = await must('users.reset_link', { user_id: id }, scene.ann.token);
      await must('auth.password.reset', { token, password: 'another one' }, undefined, otherUrl);
    },
  },
  {
    what: 'the deactivation of the account',
    end: ({ id }) =>
      must('users.update', { user_id: id, active: false }, scene.ann.token, otherUrl),
  },
  {
    what: 'the erasure of the account',
    end: ({ id }) => must('users.erase', { user_id: id }, scene.ann.token, otherUrl),
  },
  {
    what: 'the removal from the group',
    ended: ofGroup,
    async end({ id, email: user_id, groupId: group_id }) {
      await must('users.update', { user_id: id, is_admin: false }, scene.ann.token, otherUrl);
      const member = { group_id, user_id };
      await must('group.members.remove', member, scene.bob.token, otherUrl);
    },
  },
  {
    what: 'a lower role in the group',
    ended: ofGroup,
    async end({ id, email: user_id, groupId: group_id }) {
      await must('users.update', { user_id: id, is_admin: false }, scene.ann.token, otherUrl);
      const member = { group_id, user_id, role: 'member' };
      await must('group.members.update', member, scene.bob.token, otherUrl);
    },
  },
  {
    what: 'the deactivation of the membership',
    ended: ofGroup,
    async end({ id, email: user_id, groupId: group_id }) {
      await must('users.update', { user_id: id, is_admin: false }, scene.ann.token, otherUrl);
      const member = { group_id, user_id, is_active: false };
      await must('group.members.update', member, scene.bob.token, otherUrl);
    },
  },
  {
    what: 'the end of the group',
    ended: ofGroup,
    async end({ id, groupId: group_id }) {
      await must('users.update', { user_id: id, is_admin: false }, scene.ann.token, otherUrl);
      await must('group.delete', { group_id }, scene.bob.token, otherUrl);
    },
  },
  {
    what: 'the end of the admin role',
    ended: ofPlatform,
    end: ({ id }) =>
      must('users.update', { user_id: id, is_admin: false }, scene.ann.token, otherUrl),
  },
];

describe.each(ENDS)('$what', ({ end, ended = Object.keys(STREAMS) }) => {
  test.each(ended)('ends %s', async (stream) => {
    const person = await newPerson();
    const opened = await STREAMS[stream]?.(person);
    await end(person);
    await opened?.expectOver();
  });
});
