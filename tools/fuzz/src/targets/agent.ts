import { once } from 'node:events';
import {
  agentDeployedSchema,
  agentHeartbeatSchema,
  agentHelloSchema,
  agentProgressSchema,
} from '@model-gateway/contracts';
import * as fc from 'fast-check';
import { WebSocket } from 'ws';
import { fromShape } from '../grammar/from-schema.ts';
import { hostileText, jsonText } from '../grammar/json-text.ts';
import { tunnelFrame } from './tunnel-frame.ts';
import { bytesOf, onTheWire, type WireText } from '../grammar/wire-text.ts';
import { ANSWER_TIMEOUT_MS } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';

interface AgentCase {
  /** Null sends the usual one. */
  readonly hello: WireText | null;
  readonly frames: readonly { readonly body: WireText; readonly isBinary: boolean }[];
}

const USUAL_HELLO = JSON.stringify({
  jsonrpc: '2.0',
  id: 'hello',
  method: 'Agent.Hello',
  params: { version: '1', tunnel: 1, moves: true },
});
const LAST_FRAME = '{"jsonrpc":"2.0","id":"last","method":"Agent.Heartbeat","params":{}}';

const request = (method: string, params: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.constantFrom(undefined, 1, 'x', 'last2'),
    method: fc.constant(method),
    params,
  });

const hello = request('Agent.Hello', fromShape(agentHelloSchema));
const textFrame = fc.oneof(
  request('Agent.Heartbeat', fromShape(agentHeartbeatSchema)),
  request('Agent.Progress', fromShape(agentProgressSchema, { model_id: ['fuzz-node'] })),
  hello,
  fromShape(agentDeployedSchema).map((result) => ({ jsonrpc: '2.0', id: 1, result })),
);
const text = onTheWire(hostileText(textFrame));

/** Frames of a GPU node: JSON-RPC, and the binary frames of its HTTP tunnel. */
export const agent: Target<AgentCase, ServiceScene> = {
  name: 'agent',
  about: 'frames of a GPU node on /ws/agent',
  scene: 'service',
  shortCases: 40,
  cases: () =>
    Promise.resolve(
      fc.record({
        hello: fc.option(onTheWire(jsonText(hello)), { freq: 2 }),
        frames: fc.array(
          fc.oneof(
            { weight: 6, arbitrary: fc.record({ body: text, isBinary: fc.constant(false) }) },
            { weight: 1, arbitrary: fc.record({ body: tunnelFrame, isBinary: fc.constant(true) }) },
          ),
          { maxLength: 6 },
        ),
      }),
    ),
  async run(each, scene) {
    const socket = new WebSocket(`${scene.tunnelUrl.replace('http', 'ws')}/ws/agent`, {
      headers: { authorization: `Bearer ${scene.values['node_token']}` },
    });
    const problems: string[] = [];
    const received: string[] = [];
    const isDone = new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        problems.push('no answer');
        resolve();
      }, ANSWER_TIMEOUT_MS);
      const end = (): void => {
        clearTimeout(timer);
        resolve();
      };
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) return;
        received.push(data.toString());
        if (data.includes('"last"')) end();
      });
      socket.on('error', () => undefined);
      socket.on('close', end);
    });
    await once(socket, 'open');
    socket.send(bytesOf(each.hello ?? { text: USUAL_HELLO }, scene.values), { binary: false });
    for (const { body, isBinary } of each.frames)
      socket.send(bytesOf(body, scene.values), { binary: isBinary });
    socket.send(LAST_FRAME);
    await isDone;
    socket.terminate();
    return [
      ...problems,
      ...received.flatMap((answer) => [
        ...scene.secrets.namesIn(answer).map((name) => `an answer contains ${name}`),
        ...(answer.includes('-32603') ? [`an internal error: ${answer.slice(0, 300)}`] : []),
      ]),
    ];
  },
};
