import { once } from 'node:events';
import type { Socket } from 'node:net';
import * as fc from 'fast-check';
import { WebSocket } from 'ws';
import { rpcMessage } from '../grammar/rpc-message.ts';
import { bytesOf, type WireText } from '../grammar/wire-text.ts';
import { ANSWER_BYTES_MAX } from '../run/check-answer.ts';
import { ANSWER_TIMEOUT_MS } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';
import { filled, withCredential, type HttpCase } from './http-case.ts';
import { checkEnvelopes } from './rpc-envelope.ts';

interface SocketFrame {
  /** `raw` bytes are written beside the framing of WebSocket. */
  readonly kind: 'text' | 'binary' | 'raw';
  readonly body: WireText;
}

interface SocketTalk {
  readonly headers: HttpCase['headers'];
  readonly frames: readonly SocketFrame[];
}

const frame: fc.Arbitrary<SocketFrame> = fc.record({
  kind: fc.oneof(
    { weight: 50, arbitrary: fc.constant('text' as const) },
    { weight: 1, arbitrary: fc.constantFrom('binary' as const, 'raw' as const) },
  ),
  body: rpcMessage,
});

const LAST_FRAME = JSON.stringify({ jsonrpc: '2.0', id: 'last', method: 'system.status' });

/** JSON-RPC over WebSocket. */
export const rpcSocket: Target<SocketTalk, ServiceScene> = {
  name: 'rpc-socket',
  about: 'frames on the WebSocket of /api/rpc',
  scene: 'service',
  shortCases: 40,
  cases: () =>
    Promise.resolve(
      fc.record({
        headers: withCredential(['user_jwt', 'admin_jwt', '']),
        frames: fc.array(frame, { minLength: 1, maxLength: 6 }),
      }),
    ),
  async run({ headers, frames }, scene) {
    const socket = new WebSocket(`${scene.rpcUrl.replace('http', 'ws')}/api/rpc`, {
      headers: filled(headers, scene.values),
      maxPayload: ANSWER_BYTES_MAX,
    });
    const answers: string[] = [];
    const problems: string[] = [];
    // Each text frame gets one response; after the others the socket is closed.
    const wanted = frames.filter(({ kind }) => kind === 'text').length + 1;
    const isDone = new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        problems.push(`${answers.length} of ${wanted} answers`);
        resolve();
      }, ANSWER_TIMEOUT_MS);
      const end = (): void => {
        clearTimeout(timer);
        resolve();
      };
      socket.on('message', (data: Buffer) => {
        answers.push(data.toString());
        if (answers.length === wanted) end();
      });
      socket.on('error', (error) => {
        if (error.message.includes('Max payload')) problems.push('an unbounded answer');
      });
      socket.on('close', end);
    });
    await once(socket, 'open');
    for (const { kind, body } of frames) {
      const bytes = bytesOf(body, scene.values);
      if (kind === 'raw') (Reflect.get(socket, '_socket') as Socket).write(bytes);
      else socket.send(bytes, { binary: kind === 'binary' });
    }
    socket.send(LAST_FRAME);
    await isDone;
    socket.terminate();
    return [
      ...problems,
      ...answers.flatMap((text) => [
        ...checkEnvelopes(text),
        ...scene.secrets.namesIn(text).map((name) => `an answer contains ${name}`),
      ]),
    ];
  },
};
