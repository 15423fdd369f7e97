import {
  startEngine,
  startRecordedServer,
  type RecordedServer,
} from '@model-gateway/testkit/upstreams';
import { waitUntil } from '@model-gateway/testkit';
import { openStream } from '../rpc-server.ts';
import { eventsUrl, startChatScene, type ChatScene } from './chat-scene.ts';

// Numbers keep their text in what passes through `chat.send`, conversations and `engine.invoke`.

const LONG = '1234567890123456789012345678901234567890';
/** As a request may have them. */
const NUMBERS = `[${LONG},0.${LONG},-${LONG},1.0,0.10,1e3,-0,1.5e-07]`;
/** The database keeps the digits of these. */
const STORED = `[${LONG},0.${LONG},-${LONG},1.0,0.10]`;

let scene: ChatScene;
let upstream: RecordedServer;
beforeAll(async () => {
  scene = await startChatScene();
  upstream = await startRecordedServer();
  upstream.answer('/models', { body: '{"data":[{"id":"m"}]}' });
  await scene.addBackend('up', upstream.url, 'external', ['m']);
});
afterAll(async () => {
  await scene.test.close();
  await upstream.close();
});

const chunk = (delta: string, finish: string): string =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`;

/** Calls a method with the text of its params; the text of the response. */
async function callText(method: string, params: string): Promise<string> {
  const response = await fetch(`${scene.url}/api/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${scene.ann.token}` },
    body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`,
  });
  return response.text();
}

/** Sends a turn; the texts of its notifications. */
async function sendText(params: string): Promise<string> {
  const sent = await callText('chat.send', params);
  const streamId = /"stream_id":"([^"]+)"/.exec(sent)?.[1];
  if (streamId === undefined) throw new Error(sent);
  const stream = await openStream(eventsUrl(scene.url, streamId));
  let text = '';
  while (!text.includes('"is_complete":true')) text += await stream.next();
  stream.close();
  return text;
}

const lastSent = (): string => upstream.requests.at(-1)?.text ?? '';

test('in a turn, in its notifications, and in the conversation that has it', async () => {
  const conversationId = await scene.conversation();
  const called = `{"index":0,"id":"c1","type":"function","function":{"name":"look","arguments":"{\\"id\\":${LONG}}"},"more":${STORED}}`;
  upstream.answer('/chat/completions', {
    type: 'text/event-stream',
    body: [
      chunk(`{"role":"assistant","content":null,"tool_calls":[${called}]}`, 'null'),
      chunk('{}', '"tool_calls"'),
      'data: [DONE]\n\n',
    ],
  });
  const rest = `"model":"m","conversation_id":"${conversationId}"`;
  const notified = await sendText(
    `{${rest},"temperature":0.50,"max_tokens":1e2,"extra":{"seed":9223372036854775807,"unknown":${NUMBERS}},` +
      `"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","enum":${NUMBERS}}}}],` +
      `"messages":[{"role":"user","content":[{"type":"text","text":"Hi","weights":${STORED}}]}]}`,
  );
  for (const part of [
    '"temperature":0.50',
    '"max_tokens":1e2',
    '"seed":9223372036854775807',
    `"unknown":${NUMBERS}`,
    `"enum":${NUMBERS}`,
    `"weights":${STORED}`,
  ])
    expect(lastSent()).toContain(part);
  expect(notified).toContain(LONG);
  expect(notified).toContain(`"more":${STORED}`);
  await sendText(
    `{${rest},"messages":[{"role":"tool","tool_call_id":"c1","content":"seen"},{"role":"user","content":"And?"}]}`,
  );
  expect(withoutSpaces(lastSent())).toContain(`"weights":${STORED}`);
  expect(withoutSpaces(lastSent())).toContain(`"more":${STORED}`);
  const stored = await callText('conversations.get', `{"id":"${conversationId}"}`);
  expect(stored).toContain(`"more":${STORED}`);
});

const withoutSpaces = (text: string): string => text.replaceAll(' ', '');

test('in what an engine is asked and answers', async () => {
  const engine = await startEngine({ models: ['robot'] });
  await scene.addBackend('eng', engine.url, 'engine');
  await callText('engine.invoke', `{"model":"robot","method":"any","params":{"x":${NUMBERS}}}`);
  expect(engine.frames.at(-1)?.text).toContain(`"x":${NUMBERS}`);
  await scene.removeBackend('eng');
  await engine.close();
});

test('in the settings and events of a realtime session', async () => {
  const engine = await startEngine({ models: ['voice'] });
  await scene.addBackend('eng', engine.url, 'engine');
  const started = await callText(
    'realtime.start',
    `{"model":"voice","config":{"temperature":0.50,"max_output_tokens":1e2,"unknown":${NUMBERS}}}`,
  );
  const id = /"session_id":"([^"]+)"/.exec(started)?.[1];
  await callText(
    'realtime.event',
    `{"session_id":"${id}","event":{"type":"session.update","session":{"speed":1.0,"of":${NUMBERS}}}}`,
  );
  await callText('realtime.stop', `{"session_id":"${id}"}`);
  const sent = engine.frames.map(({ text }) => text).join('\n');
  expect(sent).toContain(`"temperature":0.50,"max_output_tokens":1e2,"unknown":${NUMBERS}`);
  await waitUntil(() =>
    engine.frames.some(({ text }) => text.includes(`"speed":1.0,"of":${NUMBERS}`)),
  );
  await scene.removeBackend('eng');
  await engine.close();
});

test('a number that no double can hold is refused', async () => {
  const answered = await callText(
    'chat.send',
    '{"model":"m","messages":[{"role":"user","content":"Hi"}],"extra":{"x":1e400}}',
  );
  expect(answered).toContain('must be a finite number');
});

test('an unusual number of another method is read as it was before', async () => {
  const answered = await callText('conversations.list', '{"limit":1e1}');
  expect(answered).toContain('"result"');
});
