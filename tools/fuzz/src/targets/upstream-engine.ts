import * as fc from 'fast-check';
import { like } from '../grammar/examples.ts';
import { jsonText, Raw } from '../grammar/json-text.ts';
import { bytesOf, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { modelOf } from '../scenes/scripted-upstreams.ts';
import type { ServiceScene, Target } from '../target.ts';
import { askModel, CHAT, EMBEDDINGS, MESSAGES } from './ask-model.ts';
import { callRpc } from './call-rpc.ts';
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

const model = modelOf('engine');
const RESULTS: Readonly<Record<EngineOperation, fc.Arbitrary<unknown>>> = {
  chat: like('engine-chat'),
  stream: fc.constant({ chat_id: 'chat-1' }),
  embeddings: like('engine-embeddings'),
  invoke: fc.jsonValue(),
};
const frame = (message: object): fc.Arbitrary<unknown> =>
  fc.constant({ jsonrpc: '2.0', ...message });
const chunk = like('engine-chunk').chain((params) => frame({ method: 'Engine.ChatChunk', params }));
const wire = (values: fc.Arbitrary<unknown>): fc.Arbitrary<WireText> => onTheWire(jsonText(values));

/** What ends the call for certain, if the case did not. */
const LAST_FRAMES = [
  '{"jsonrpc":"2.0","id":{{call_id}},"error":{"code":-32000,"message":"over"}}',
  '{"jsonrpc":"2.0","method":"Engine.ChatChunk","params":{"chat_id":"chat-1","delta":"","done":true}}',
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
      return await ask(operation, scene);
    } finally {
      upstream.callWith(undefined);
    }
  },
};

function casesOf(operation: EngineOperation): fc.Arbitrary<EngineCase> {
  const chunks = fc.array(wire(chunk), { maxLength: operation === 'stream' ? 6 : 1 });
  const result = RESULTS[operation].chain((each) =>
    frame({ id: new Raw('{{call_id}}'), result: each }),
  );
  return fc.record({
    operation: fc.constant(operation),
    frames: fc
      .tuple(wire(result), chunks, fc.boolean())
      .map(([first, rest, isRepeated]) => [first, ...rest, ...(isRepeated ? [first] : [])]),
    closes: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.boolean()),
  });
}

async function ask(operation: EngineOperation, scene: ServiceScene): Promise<readonly string[]> {
  if (operation === 'embeddings') return askModel(scene, EMBEDDINGS, { model, input: 'Hello' });
  if (operation !== 'invoke')
    return askModel(scene, CHAT, { model, messages: MESSAGES, stream: operation === 'stream' });
  const params = JSON.stringify({ model, method: 'x', params: {} });
  const answer = await callRpc(scene, 'admin_jwt', '"engine.invoke"', params);
  if (answer.outcome === 'broken off') return ['the connection broke'];
  return [...checkAnswer(answer, scene.secrets), ...checkEnvelopes(answer.body.toString())];
}
