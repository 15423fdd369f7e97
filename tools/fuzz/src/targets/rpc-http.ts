import * as fc from 'fast-check';
import { rarely } from '../grammar/rarely.ts';
import { bearerAmong, bearerHeader, type Bearer } from '../grammar/bearer.ts';
import { rpcMessage } from '../grammar/rpc-message.ts';
import { bytesOf, cutAt, cuts, type WireText } from '../grammar/wire-text.ts';
import { checkAnswer } from '../run/check-answer.ts';
import { afterHangUp, send } from '../run/send.ts';
import type { ServiceScene, Target } from '../target.ts';
import { checkEnvelopes } from './rpc-envelope.ts';

interface RpcPost {
  readonly bearer: Bearer;
  readonly body: WireText;
  readonly cuts: readonly number[];
  readonly hangsUp: boolean;
}

/** JSON-RPC over HTTP. */
export const rpcHttp: Target<RpcPost, ServiceScene> = {
  name: 'rpc-http',
  about: 'POST /api/rpc: requests, batches and what is neither',
  scene: 'service',
  shortCases: 70,
  cases: () =>
    Promise.resolve(
      fc.record({
        bearer: bearerAmong('user_jwt', 'admin_jwt', 'admin_token'),
        body: rpcMessage,
        cuts,
        hangsUp: rarely(),
      }),
    ),
  async run({ bearer, body, cuts: positions, hangsUp }, scene) {
    const bytes = bytesOf(body, scene.values);
    const answer = await send(scene.rpcUrl, {
      method: 'POST',
      path: '/api/rpc',
      headers: bearerHeader(bearer, scene.values),
      pieces: cutAt(bytes, positions),
      hangsUp,
    });
    if (hangsUp) return afterHangUp(scene.rpcUrl);
    if (answer.outcome === 'broken off') return ['the connection broke'];
    return [
      ...checkAnswer(answer, scene.secrets),
      ...([200, 413].includes(answer.status) ? [] : [`status ${answer.status}`]),
      ...checkEnvelopes(answer.body.toString()),
    ];
  },
};
