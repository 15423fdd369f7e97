import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text as readAll } from 'node:stream/consumers';
import { rpcCall } from '@model-gateway/testkit';

/** An account that was just registered, in the tier `free`, with an API key. */
export interface Attacker {
  readonly token: string;
  readonly key: string;
}

/** What a hostile request finds. */
export interface HostileScene {
  readonly url: string;
  readonly adminToken: string;
  /** A session of the platform admin. */
  readonly admin: Attacker;
  readonly newAttacker: () => Promise<Attacker>;
  /** Resolves when the requests of the others have been answered: what is sent may last until then. */
  readonly othersServed: Promise<void>;
}

/** One kind of request that must cost nobody else anything, however many of it arrive at once. */
export interface HostileRequest {
  readonly what: string;
  /** What it needs, and then how it is sent; resolves with the status, or the code of an RPC error. */
  readonly prepare: (scene: HostileScene) => Promise<(index: number) => Promise<number>>;
}

const MEBIBYTE = 1024 * 1024;
const SMALL = 'x';

/** Sends a body of any size; resolves with the status. */
async function send(
  url: string,
  { bearer, body, headers = {} }: SentRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  const asked = httpRequest(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      authorization: `Bearer ${bearer}`,
      ...headers,
    },
  });
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  // A body that is refused is not read to its end.
  asked.on('error', () => undefined);
  return { status: response.statusCode ?? 0, text: await readAll(response) };
}

interface SentRequest {
  readonly bearer: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const codeOf = async (answer: ReturnType<typeof rpcCall>): Promise<number> =>
  (await answer).error?.code ?? 200;

async function must(scene: HostileScene, method: string, params: object, token: string) {
  const { result, error } = await rpcCall(scene.url, method, params, token);
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result as Readonly<Record<string, string>>;
}

/** A method that one account calls over and over. */
const repeated = (
  what: string,
  method: string,
  params: (scene: HostileScene, attacker: Attacker) => Promise<object>,
  { isAdmin = false }: { readonly isAdmin?: boolean } = {},
): HostileRequest => ({
  what,
  async prepare(scene) {
    const attacker = isAdmin ? scene.admin : await scene.newAttacker();
    const given = await params(scene, attacker);
    return () => codeOf(rpcCall(scene.url, method, given, attacker.token));
  },
});

const inNewGroup = async (scene: HostileScene, { token }: Attacker) => ({
  group_id: (await must(scene, 'group.create', { name: 'g' }, token))['id'],
});

/** Eight levels, each a list of 150 aliases of the level before. */
function aliasBomb(): string {
  const names = 'abcdefgh';
  const lines = ['a: &a ["lol"]'];
  for (let level = 1; level < names.length; level += 1) {
    const aliases = Array(150)
      .fill(`*${names[level - 1]}`)
      .join(',');
    lines.push(`${names[level]}: &${names[level]} [${aliases}]`);
  }
  return lines.join('\n');
}

const imageOf = (bytes: number): string =>
  `data:image/png;base64,${'A'.repeat(Math.floor(bytes / 4) * 4)}`;

/** Stores a response with an image of almost 8 MiB; resolves with its id. */
async function storeLarge(
  scene: HostileScene,
  { key }: Attacker,
  previous?: string,
): Promise<string> {
  const image = { type: 'input_image', image_url: imageOf(7.9 * MEBIBYTE), detail: 'low' };
  const { status, text } = await send(`${scene.url}/v1/responses`, {
    bearer: key,
    body: JSON.stringify({
      model: 'demo-chat',
      input: [{ type: 'message', role: 'user', content: [image] }],
      ...(previous === undefined ? {} : { previous_response_id: previous }),
    }),
  });
  if (status !== 200) throw new Error(`a response was not stored: ${status} ${text.slice(0, 300)}`);
  return (JSON.parse(text) as { id: string }).id;
}

/** Add an entry for every request that was found to cost others something. */
export const HOSTILE_REQUESTS: readonly HostileRequest[] = [
  repeated('an audited call', 'group.update', async (scene, attacker) => ({
    ...(await inNewGroup(scene, attacker)),
    name: SMALL,
  })),
  repeated('a group', 'group.create', async () => ({ name: SMALL })),
  repeated('a conversation', 'conversations.create', async () => ({})),
  repeated('an invitation', 'group.invite.create', inNewGroup),
  repeated('a summary of usage', 'usage.summary', async () => ({ group_by: 'model' })),
  {
    what: 'a batch of a thousand calls',
    async prepare({ url, newAttacker }) {
      const { token } = await newAttacker();
      const call = { jsonrpc: '2.0', id: 1, method: 'auth.me' };
      const body = JSON.stringify(Array.from({ length: 1_000 }, () => call));
      return async (index) =>
        index < 10 ? (await send(`${url}/api/rpc`, { bearer: token, body })).status : 200;
    },
  },
  repeated('a cursor of a date that does not exist', 'requests.list', async () => ({
    cursor: Buffer.from(
      JSON.stringify(['9999-99-99 99:99:99+00', '00000000-0000-4000-8000-000000000000']),
    ).toString('base64url'),
  })),
  repeated(
    'a configuration of nested aliases',
    'config.check',
    async () => ({ text: aliasBomb() }),
    { isAdmin: true },
  ),
  {
    what: 'a number that no double can hold',
    async prepare({ url, newAttacker }) {
      const { key } = await newAttacker();
      const body =
        '{"model":"demo-chat","max_tokens":0,"best_of":1e999,"prompt":"x","messages":[{"role":"user","content":"x"}]}';
      const paths = ['/v1/completions', '/v1/chat/completions', '/v1/responses'];
      return async (index) =>
        (await send(`${url}${paths[index % paths.length]}`, { bearer: key, body })).status;
    },
  },
  {
    what: 'a large body to be counted',
    async prepare({ url, newAttacker }) {
      const { key } = await newAttacker();
      const content = 'word '.repeat(MEBIBYTE);
      const body = Buffer.from(
        JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content }] }),
      );
      return async () =>
        (await send(`${url}/v1/messages/count_tokens`, { bearer: key, body })).status;
    },
  },
  {
    what: 'a thousand references to one large item',
    async prepare(scene) {
      const attacker = await scene.newAttacker();
      const stored = await storeLarge(scene, attacker);
      const id = `msg_${stored.replace('resp_', '')}i0`;
      const input = Array.from({ length: 1_000 }, () => ({ type: 'item_reference', id }));
      const body = JSON.stringify({ model: 'demo-chat', input });
      return async () =>
        (await send(`${scene.url}/v1/responses`, { bearer: attacker.key, body })).status;
    },
  },
  {
    what: 'a chain of large responses',
    async prepare(scene) {
      const attacker = await scene.newAttacker();
      let last: string | undefined;
      for (let length = 0; length < 3; length += 1) last = await storeLarge(scene, attacker, last);
      const body = JSON.stringify({
        model: 'demo-chat',
        input: SMALL,
        store: false,
        previous_response_id: last,
      });
      return async () =>
        (await send(`${scene.url}/v1/responses`, { bearer: attacker.key, body })).status;
    },
  },
  {
    what: 'a chat in a conversation with a long history',
    async prepare(scene) {
      const { token, key } = await scene.newAttacker();
      const { id: conversation_id } = await must(scene, 'conversations.create', {}, token);
      const image = { url: imageOf(12 * MEBIBYTE), detail: 'low' };
      const content = [
        { type: 'text', text: SMALL },
        { type: 'image_url', image_url: image },
      ];
      const body = JSON.stringify({
        model: 'demo-chat',
        conversation_id,
        messages: [{ role: 'user', content }],
      });
      for (let turn = 0; turn < 6; turn += 1) {
        const { status } = await send(`${scene.url}/v1/chat/completions`, { bearer: key, body });
        if (status !== 200) throw new Error(`a turn was not served: ${status}`);
      }
      const params = {
        model: 'demo-chat',
        conversation_id,
        messages: [{ role: 'user', content: SMALL }],
      };
      return () => codeOf(rpcCall(scene.url, 'chat.send', params, token));
    },
  },
  {
    what: 'an upload that stalls',
    async prepare({ url, newAttacker, othersServed }) {
      const { key } = await newAttacker();
      const head = Buffer.from(
        '--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
      );
      const part = Buffer.alloc(MEBIBYTE);
      return async () => {
        const asked = httpRequest(`${url}/v1/audio/transcriptions`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'multipart/form-data; boundary=b',
          },
        });
        asked.on('error', () => undefined);
        asked.on('response', (response) => response.resume());
        asked.write(head);
        for (let sent = 0; sent < 8; sent += 1) asked.write(part);
        await othersServed;
        asked.destroy();
        return 200;
      };
    },
  },
];
