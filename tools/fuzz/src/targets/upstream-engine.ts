import * as fc from 'fast-check';
import { mutated, textOf } from '../grammar/hostile.ts';
import { objectTree, rawTree, treeOf, type JsonTree } from '../grammar/json-tree.ts';
import { message, usage } from '../grammar/upstream-body.ts';
import { bytesOf, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { send } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';
import { checkBlame, checkCut } from './upstream-http.ts';
import { checkEnvelopes } from './rpc-envelope.ts';

const OPERATIONS = ['chat', 'stream', 'embeddings', 'invoke'] as const;
type EngineOperation = (typeof OPERATIONS)[number];

interface EngineCase {
  readonly operation: EngineOperation;
  /** What the engine sends after the call; `{{call_id}}` is the id of the call. */
  readonly frames: readonly WireText[];
  /** The engine leaves then. */
  readonly closes: boolean;
}

const CHAT_ID = '"chat-1"';

const answer = (result: JsonTree): JsonTree =>
  objectTree({ jsonrpc: treeOf('2.0'), id: rawTree('{{call_id}}'), result });

const chunk = fc
  .record(
    {
      delta: fc.string({ maxLength: 12 }),
      done: fc.boolean(),
      finish_reason: fc.constantFrom('stop', 'length'),
      usage,
      error: fc.constantFrom('oom', { code: 1, message: 'oom' }),
    },
    { requiredKeys: ['delta', 'done'], noNullPrototype: true },
  )
  .map((fields) => {
    const params = { chat_id: rawTree(CHAT_ID), ...treeFields(fields) };
    return objectTree({
      jsonrpc: treeOf('2.0'),
      method: treeOf('Engine.ChatChunk'),
      params: objectTree(params),
    });
  });

const treeFields = (fields: object): Record<string, JsonTree> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, treeOf(value)]));

const RESULTS: Readonly<Record<EngineOperation, fc.Arbitrary<JsonTree>>> = {
  chat: fc
    .record({ message, finish_reason: fc.constantFrom('stop', null), usage })
    .map((result) => answer(treeOf(result))),
  stream: fc.constant(answer(objectTree({ chat_id: rawTree(CHAT_ID) }))),
  embeddings: fc
    .record({ data: fc.array(fc.array(fc.double({ noNaN: true })), { maxLength: 3 }), usage })
    .map((result) => answer(treeOf(result))),
  invoke: fc.jsonValue().map((result) => answer(treeOf(result))),
};

const frame = (tree: fc.Arbitrary<JsonTree>): fc.Arbitrary<WireText> =>
  onTheWire(textOf(mutated(tree)));

/** What ends the call for certain, if the case did not. */
const LAST_FRAMES = [
  `{"jsonrpc":"2.0","id":{{call_id}},"error":{"code":-32000,"message":"over"}}`,
  `{"jsonrpc":"2.0","method":"Engine.ChatChunk","params":{"chat_id":${CHAT_ID},"delta":"","done":true}}`,
];

/** Frames of an engine over WebSocket. */
export const upstreamEngine: Target<EngineCase, ServiceScene> = {
  name: 'upstream-engine',
  about: 'frames of engines over WebSocket',
  scene: 'service',
  shortCases: 40,
  cases: () => Promise.resolve(fc.oneof(...OPERATIONS.map(casesOf))),
  async run({ operation, frames, closes }, scene) {
    const upstream = scene.upstreams.of.engine;
    upstream.callWith((socket, call) => {
      // Not to a cancellation.
      if (call.id === undefined) return false;
      const values = { ...scene.values, call_id: JSON.stringify(call.id) };
      const texts = [...frames, ...LAST_FRAMES.map((text) => ({ text }))];
      for (const each of texts) socket.send(bytesOf(each, values), { binary: false });
      if (closes) socket.close();
      return true;
    });
    try {
      return await (operation === 'invoke' ? invoke(scene) : complete(operation, scene));
    } finally {
      upstream.callWith(undefined);
    }
  },
};

function casesOf(operation: EngineOperation): fc.Arbitrary<EngineCase> {
  const chunks = fc.array(frame(chunk), { maxLength: operation === 'stream' ? 6 : 1 });
  return fc.record({
    operation: fc.constant(operation),
    frames: fc
      .tuple(frame(RESULTS[operation]), chunks, fc.boolean())
      .map(([first, rest, isRepeated]) => [first, ...rest, ...(isRepeated ? [first] : [])]),
    closes: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.boolean()),
  });
}

const model = 'fuzz-engine';

async function complete(
  operation: EngineOperation,
  scene: ServiceScene,
): Promise<readonly string[]> {
  const isEmbeddings = operation === 'embeddings';
  const messages = [{ role: 'user', content: 'Hello' }];
  const body = isEmbeddings
    ? { model, input: 'Hello' }
    : { model, messages, stream: operation === 'stream' };
  const received = await send(scene.restUrl, {
    method: 'POST',
    path: isEmbeddings ? '/v1/embeddings' : '/v1/chat/completions',
    headers: { authorization: `Bearer ${scene.values['api_key']}` },
    pieces: [Buffer.from(JSON.stringify(body))],
  });
  if (received.outcome === 'broken off') return checkCut(received);
  return [...checkAnswer(received, scene.secrets), ...checkBlame(received)];
}

async function invoke(scene: ServiceScene): Promise<readonly string[]> {
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'engine.invoke',
    params: { model, method: 'x', params: {} },
  };
  const received = await send(scene.rpcUrl, {
    method: 'POST',
    path: '/api/rpc',
    headers: { authorization: `Bearer ${scene.values['admin_jwt']}` },
    pieces: [Buffer.from(JSON.stringify(call))],
  });
  if (received.outcome === 'broken off') return ['the connection broke'];
  return [...checkAnswer(received, scene.secrets), ...checkEnvelopes(received.body.toString())];
}
