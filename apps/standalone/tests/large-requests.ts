import { fullSize, fullTable } from '@model-gateway/testkit';
import { fields, list } from './json-text.ts';

export const MESSAGE = '{"role":"user","content":"x"}';
const call = (method: string, params: string, id = '1'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
const send = (more: string): string => call('chat.send', `{"model":"demo-chat",${more}}`);
export const chat = (more: string): string => `{"model":"demo-chat","max_tokens":1,${more}}`;
const embed = (input: string): string => `{"model":"demo-chat","input":${input}}`;
const embedMuch = (input: string, dimensions: number): string =>
  `{"model":"demo-chat","input":${input},"dimensions":${dimensions}}`;
const respond = (input: string): string => `{"model":"demo-chat","store":false,"input":${input}}`;
const ask = (messages: string): string =>
  `{"model":"demo-chat","max_tokens":1,"messages":${messages}}`;
const MEBIBYTE = 1024 * 1024;
/** The size of the largest bodies, in MiB. */
const LARGE = fullSize(30, { small: 6 });

export const RPC = '/api/rpc';
/** The same path, but the body is one frame of a WebSocket. */
export const RPC_SOCKET = 'a WebSocket to /api/rpc';
export const CHAT = '/v1/chat/completions';
const EMBED = '/v1/embeddings';
const VIDEO = '/v1/video/generations';
const RESPOND = '/v1/responses';
const MESSAGES = '/v1/messages';
const COUNT = '/v1/messages/count_tokens';
export const UPLOAD = '/v1/audio/transcriptions';
/** Of the forms that are uploaded. */
export const FORM_BOUNDARY = 'form-of-the-test';

/** What is sent where. */
type Shape = readonly [what: string, path: string, body: () => string];

/** One shape of every kind, on every surface. */
const USUAL_SHAPES: readonly Shape[] = [
  ['1.2 million numbers as messages', CHAT, () => chat(`"messages":${list(1_200_000, '0')}`)],
  ['10,000 numbers as messages', CHAT, () => chat(`"messages":${list(10_000, '0')}`)],
  ['numbers as content parts', CHAT, () => chat(`"messages":${list(20, partsOf('0'))}`)],
  ['empty content parts', CHAT, () => chat(`"messages":${list(20, partsOf('{}'))}`)],
  ['10,000 messages', CHAT, () => chat(`"messages":${list(10_000, MESSAGE)}`)],
  [
    'many fields of a tool',
    CHAT,
    () => chat(`"messages":[${MESSAGE}],"tools":[{${fields(90_000)}}]`),
  ],
  ['a schema that refers to itself twice', CHAT, () => chat(schemaOf(DOUBLING))],
  ['a pattern that never ends', CHAT, () => chat(schemaOf(ENDLESS))],
  ['a million levels', CHAT, () => `${'['.repeat(MEBIBYTE)}${']'.repeat(MEBIBYTE)}`],
  ['much text', CHAT, () => chat(`"messages":[${said('a b '.repeat((LARGE / 4) * MEBIBYTE))}]`)],
  ['null as inputs', EMBED, () => embed(list(100_000, 'null'))],
  ['lists of negative numbers', EMBED, () => embed(list(1_000, list(1_000, '-1')))],
  ['padding instead of base64', VIDEO, () => videoOf(`${'='.repeat(16 * MEBIBYTE)}AAAA`)],
  ['many tool calls with many values', CHAT, () => calling(LARGE * 12, 20_000)],
  ['400,000 numbers as messages', RPC, () => send(`"messages":${list(400_000, '0')}`)],
  ['10,000 messages', RPC, () => send(`"messages":${list(10_000, MESSAGE)}`)],
  ['an id of a million digits', RPC, () => call('system.status', '{}', '7'.repeat(1_000_000))],
  ['an id of nested lists', RPC, () => call('system.status', '{}', list(300_000, '[]'))],
  ['a batch of numbers', RPC, () => list(500_000, '0')],
  ['half a million levels', RPC, () => `${'['.repeat(500_000)}${']'.repeat(500_000)}`],
  ['many unknown params', RPC, () => call('system.status', `{${fields(90_000)}}`)],
  ['a long method name', RPC, () => call('a'.repeat(1_000_000), '{}')],
  ['400,000 numbers as messages', RPC_SOCKET, () => send(`"messages":${list(400_000, '0')}`)],
  ['10,000 messages', RPC_SOCKET, () => send(`"messages":${list(10_000, MESSAGE)}`)],
  ['a batch of numbers', RPC_SOCKET, () => list(500_000, '0')],
  ['an id of a million digits', RPC_SOCKET, () => call('a', '{}', '7'.repeat(1_000_000))],
  ['a frame of 2 MiB', RPC_SOCKET, () => call('a'.repeat(2 * MEBIBYTE), '{}')],
  ['half a million levels', RPC_SOCKET, () => `${'['.repeat(500_000)}${']'.repeat(500_000)}`],
  ['a million numbers as input', RESPOND, () => respond(list(1_000_000, '0'))],
  ['10,000 items', RESPOND, () => respond(list(10_000, MESSAGE))],
  ['much text', RESPOND, () => respond(JSON.stringify('a b '.repeat((LARGE / 4) * MEBIBYTE)))],
  ['a million numbers as messages', MESSAGES, () => ask(list(1_000_000, '0'))],
  ['10,000 messages', MESSAGES, () => ask(list(10_000, MESSAGE))],
  ['empty blocks of content', MESSAGES, () => ask(list(20, partsOf('{}')))],
  ['a million numbers as messages', COUNT, () => ask(list(1_000_000, '0'))],
  ['10,000 messages', COUNT, () => ask(list(10_000, MESSAGE))],
  ['much Chinese', COUNT, () => ask(`[${said('你好'.repeat((LARGE / 6) * MEBIBYTE))}]`)],
  ['100,000 fields', UPLOAD, () => form(`${field('a', 'x').repeat(100_000)}${AUDIO}`)],
  ['a part with many headers', UPLOAD, () => form(`${partHeaders(50_000)}${AUDIO}`)],
  [
    'a long name of a file',
    UPLOAD,
    () => form(field(`f"; filename="${'a'.repeat(MEBIBYTE)}`, 'x')),
  ],
  ['a file that looks like boundaries', UPLOAD, () => form(fileOf('\r\n--form-'.repeat(MEBIBYTE)))],
];

/** Variants of them. */
const VARIANTS: readonly Shape[] = [
  [
    'millions of empty objects',
    CHAT,
    () => chat(`"messages":${list((LARGE / 3) * MEBIBYTE, '{}')}`),
  ],
  ['numbers as tools', CHAT, () => chat(`"messages":[${MESSAGE}],"tools":${list(999_999, '0')}`)],
  ['100,000 unknown fields', CHAT, () => chat(`"messages":[${MESSAGE}],${fields(100_000)}`)],
  ['a schema of many properties', CHAT, () => chat(schemaOf(`{"properties":{${fields(90_000)}}}`))],
  ['much Chinese', CHAT, () => chat(`"messages":[${said('你好'.repeat((LARGE / 6) * MEBIBYTE))}]`)],
  ['many quotes', CHAT, () => chat(`"messages":[${said('"'.repeat((LARGE / 2) * MEBIBYTE))}]`)],
  [
    'many half characters',
    CHAT,
    () => chat(`"messages":[${said('\ud83d'.repeat((LARGE / 6) * MEBIBYTE))}]`),
  ],
  ['millions of numbers', EMBED, () => embed(list((LARGE / 2) * MEBIBYTE, '7'))],
  ['much text in many dimensions', EMBED, () => embedMuch(`"${'a b '.repeat(MEBIBYTE)}"`, 4_096)],
  ['2,000 vectors', EMBED, () => embedMuch(list(2_000, '"x"'), 512)],
  ['arguments of a tool call with many values', CHAT, () => calling(1, (LARGE / 3) * MEBIBYTE)],
  ['a batch of rpc.discover', RPC, () => list(1_000, call('rpc.discover', '{}'))],
  ['a batch of rpc.discover', RPC_SOCKET, () => list(1_000, call('rpc.discover', '{}'))],
  ['many unknown params', RPC_SOCKET, () => call('system.status', `{${fields(90_000)}}`)],
  ['100,000 unknown fields', RESPOND, () => respond(`"x",${fields(100_000)}`)],
  ['empty parts of an item', RESPOND, () => respond(list(20, partsOf('{}')))],
  ['numbers as tools', MESSAGES, () => ask(`[${MESSAGE}],"tools":${list(999_999, '0')}`)],
  ['100,000 unknown fields', MESSAGES, () => ask(`[${MESSAGE}],${fields(100_000)}`)],
  ['numbers as tools', COUNT, () => ask(`[${MESSAGE}],"tools":${list(999_999, '0')}`)],
  ['many quotes', COUNT, () => ask(`[${said('"'.repeat((LARGE / 2) * MEBIBYTE))}]`)],
  ['empty blocks of content', COUNT, () => ask(list(12, partsOf('{"type":"text","text":""}')))],
  ['a large file', UPLOAD, () => form(fileOf('a'.repeat(24 * MEBIBYTE)))],
  ['a field of 8 MiB', UPLOAD, () => form(`${field('a', 'x'.repeat(8 * MEBIBYTE))}${AUDIO}`)],
  ['many fields of extra', RPC, () => send(`"messages":[${MESSAGE}],"extra":{${fields(90_000)}}`)],
];

/** Every shape that once kept a process busy, or was found beside one. */
export const LARGE_REQUESTS = fullTable([...USUAL_SHAPES, ...VARIANTS], {
  small: USUAL_SHAPES.length,
});

/** For a local server, which takes the arguments as an object: in a request they are a text of JSON. */
function calling(count: number, values: number): string {
  const tool = {
    id: 'c',
    type: 'function',
    function: { name: 'f', arguments: list(values, '{}') },
  };
  const calls = list(count, JSON.stringify(tool));
  return `{"model":"scripted-local","messages":[${MESSAGE},{"role":"assistant","content":null,"tool_calls":${calls}}]}`;
}

const DOUBLING = '{"$ref":"#/a","a":{"allOf":[{"$ref":"#/a"},{"$ref":"#/a"}]}}';
const ENDLESS = '{"type":"string","pattern":"^(((a+)+)+)+$","minLength":5000}';
function schemaOf(schema: string): string {
  const format = `{"type":"json_schema","json_schema":{"name":"x","schema":${schema}}}`;
  return `"messages":[${MESSAGE}],"response_format":${format}`;
}

function partsOf(part: string): string {
  return `{"role":"user","content":${list(10_000, part)}}`;
}

function said(content: string): string {
  return `{"role":"user","content":${JSON.stringify(content)}}`;
}

function videoOf(data_base64: string): string {
  const images = [{ data_base64, mime_type: 'image/png' }];
  return JSON.stringify({ model: 'demo-chat', prompt: 'x', images });
}

/** The parts of a form. */
const part = (headers: string, content: string): string =>
  `--${FORM_BOUNDARY}\r\n${headers}\r\n\r\n${content}\r\n`;
const field = (name: string, value: string): string =>
  part(`content-disposition: form-data; name="${name}"`, value);
const fileOf = (content: string): string => field('file"; filename="a.wav', content);
const partHeaders = (count: number): string =>
  part(`content-disposition: form-data; name="x"${'\r\nx-header: 1'.repeat(count)}`, 'x');
const form = (parts: string): string =>
  `${field('model', 'scripted')}${parts}--${FORM_BOUNDARY}--\r\n`;
const AUDIO = fileOf('audio');
