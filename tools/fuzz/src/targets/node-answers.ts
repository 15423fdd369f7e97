import { once } from 'node:events';
import { rpcCall, waitUntil } from '@model-gateway/testkit';
import * as fc from 'fast-check';
import { WebSocket } from 'ws';
import { jsonText } from '../grammar/json-text.ts';
import { answersWith } from '../grammar/upstream-answer.ts';
import { bytesOf, cutAt, onTheWire, type WireText } from '../grammar/wire-text.ts';
import type { ServiceScene, Target } from '../target.ts';
import { askModel, CHAT, MESSAGES } from './ask-model.ts';
import { encodeTunnelFrame, FRAME_KINDS, tunnelFrame } from './tunnel-frame.ts';

interface NodeAnswer {
  readonly head: WireText;
  readonly body: WireText;
  readonly cuts: readonly number[];
  /** Frames in between, of any kind and exchange. */
  readonly stray: readonly WireText[];
  readonly isStream: boolean;
  readonly closes: boolean;
}

/** A node whose model is asked through the tunnel, because no server listens at its port. */
interface Node {
  socket: WebSocket;
  answer: ((exchangeId: number) => readonly Buffer[]) | undefined;
}

const MODEL = 'fuzz-node';
const PORT = 9;
const nodes = new WeakMap<ServiceScene, { token: string; node: Node | undefined }>();
const EMPTY = Buffer.alloc(0);
const LISTING = Buffer.from(JSON.stringify({ data: [{ id: MODEL }] }));
const HEARTBEAT = JSON.stringify({ jsonrpc: '2.0', method: 'Agent.Heartbeat', params: {} });
const USUAL_HEAD = Buffer.from('{"status":200,"headers":[["content-type","application/json"]]}');

const HEADERS = [
  [['content-type', 'application/json']],
  [['content-type', 'text/event-stream']],
  [
    ['content-length', '-1'],
    ['transfer-encoding', 'chunked'],
  ],
  [['x-bad\r\nx-injected', '1']],
  [['set-cookie', 'a\u0000b']],
];
const responseHead = fc.record({
  status: fc.constantFrom(200, 204, 404, 500, 599),
  headers: fc.constantFrom(...HEADERS),
});

/** What a GPU node answers through its HTTP tunnel. */
export const nodeAnswers: Target<NodeAnswer, ServiceScene> = {
  name: 'node-answers',
  about: 'answers of a GPU node through its tunnel',
  scene: 'service',
  shortCases: 15,
  cases: () =>
    Promise.resolve(
      fc
        .record({
          answer: fc.oneof(answersWith('external chat'), answersWith('external stream')),
          head: fc.oneof(
            { weight: 1, arbitrary: onTheWire(jsonText(responseHead)) },
            { weight: 2, arbitrary: fc.constant({ text: USUAL_HEAD.toString() }) },
          ),
          stray: fc.oneof(
            { weight: 4, arbitrary: fc.constant([]) },
            { weight: 1, arbitrary: fc.array(tunnelFrame, { maxLength: 2 }) },
          ),
          isStream: fc.boolean(),
          closes: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.boolean()),
        })
        .map(({ answer: { body, cuts }, ...rest }) => ({ body, cuts, ...rest })),
    ),
  async run(each, scene) {
    const node = await connectedNode(scene);
    node.answer = (exchangeId) => framesOf(each, exchangeId, scene.values);
    const body = { model: MODEL, messages: MESSAGES, stream: each.isStream };
    const problems = await askModel(scene, CHAT, body);
    node.answer = undefined;
    if (each.closes) await disconnect(scene, node);
    return problems;
  },
};

function framesOf(
  { head, body, cuts, stray }: NodeAnswer,
  exchangeId: number,
  values: Readonly<Record<string, string>>,
): readonly Buffer[] {
  // A node knows none of the keys of upstreams, so what it makes up is no secret.
  const known = { ...values, upstream_key: 'made-up-key-of-a-node' };
  const frame = (kind: keyof typeof FRAME_KINDS, payload: Buffer): Buffer =>
    encodeTunnelFrame(FRAME_KINDS[kind], exchangeId, payload);
  return [
    frame('head', bytesOf(head, known)),
    ...stray.map((each) => bytesOf(each)),
    ...cutAt(bytesOf(body, known), cuts).map((piece) => frame('data', piece)),
    frame('end', EMPTY),
    // Ends the exchange if the frames before did not.
    frame('reset', Buffer.from('over')),
  ];
}

/** Registers the node once, and connects it again when a case made the service close its connection. */
async function connectedNode(scene: ServiceScene): Promise<Node> {
  const known = nodes.get(scene) ?? { token: await registered(scene), node: undefined };
  nodes.set(scene, known);
  if (known.node?.socket.readyState === WebSocket.OPEN && (await isRoutable(scene))) {
    // A node that sends none for some time is offline.
    known.node.socket.send(HEARTBEAT);
    return known.node;
  }
  const isFirst = known.node === undefined;
  known.node?.socket.terminate();
  const node = await connect(scene, known.token);
  known.node = node;
  if (isFirst)
    await call(scene, 'agents.deploy', { model_id: MODEL, agent_id: agentIds.get(scene) });
  await waitUntil(() => isRoutable(scene), { what: 'the model of the node' });
  return node;
}

/** Waits until the service has noticed it: the next case must not begin with a model that is about to leave. */
async function disconnect(scene: ServiceScene, { socket }: Node): Promise<void> {
  socket.terminate();
  await waitUntil(async () => !(await isRoutable(scene)), { what: 'the loss of the node' });
}

const agentIds = new WeakMap<ServiceScene, string>();

async function registered(scene: ServiceScene): Promise<string> {
  const params = { machine_name: 'fuzz-tunnel', version: '1' };
  const result = await call(scene, 'agents.register', params);
  const { agent_id, token } = result as { readonly agent_id: string; readonly token: string };
  agentIds.set(scene, agent_id);
  scene.secrets.add('the token of the second node', token);
  return token;
}

async function call(scene: ServiceScene, method: string, params: object): Promise<unknown> {
  const { error, result } = await rpcCall(scene.rpcUrl, method, params, scene.values['admin_jwt']);
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}

async function isRoutable(scene: ServiceScene): Promise<boolean> {
  const response = await fetch(`${scene.restUrl}/api/admin/backends`, {
    headers: { authorization: `Bearer ${scene.values['admin_token']}` },
  });
  const { models } = (await response.json()) as { readonly models: readonly string[] };
  return models.includes(MODEL);
}

async function connect(scene: ServiceScene, token: string): Promise<Node> {
  const socket = new WebSocket(`${scene.tunnelUrl.replace('http', 'ws')}/ws/agent`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const node: Node = { socket, answer: undefined };
  socket.on('error', () => undefined);
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) answerExchange(node, data);
    else answerCall(socket, data);
  });
  await once(socket, 'open');
  const models = [{ model_id: MODEL, status: 'ready', port: PORT }];
  const params = { version: '1', tunnel: 1, models };
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 'hello', method: 'Agent.Hello', params }));
  await once(socket, 'message');
  return node;
}

function answerExchange({ socket, answer }: Node, frame: Buffer): void {
  if (frame[0] !== FRAME_KINDS.open) return;
  const exchangeId = frame.readUInt32BE(1);
  const isListing = frame.includes('/models"');
  const frames = isListing ? undefined : answer?.(exchangeId);
  const usual = [
    encodeTunnelFrame(FRAME_KINDS.head, exchangeId, USUAL_HEAD),
    encodeTunnelFrame(FRAME_KINDS.data, exchangeId, LISTING),
    encodeTunnelFrame(FRAME_KINDS.end, exchangeId, EMPTY),
  ];
  for (const each of frames ?? usual) socket.send(each);
}

/** Whatever is asked of it, the node has done it. */
function answerCall(socket: WebSocket, data: Buffer): void {
  const { id, method } = JSON.parse(data.toString()) as { id?: unknown; method?: string };
  if (method === undefined || id === undefined) return;
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: { port: PORT, ok: true } }));
}
