import * as fc from 'fast-check';
import { rpcMessage } from '../grammar/rpc-message.ts';
import type { ServiceScene, Target } from '../target.ts';
import { checkCase, httpCases, sendCase, withCredential, type HttpCase } from './http-case.ts';
import { checkEnvelopes } from './rpc-envelope.ts';

/** JSON-RPC over HTTP. */
export const rpcHttp: Target<HttpCase, ServiceScene> = {
  name: 'rpc-http',
  about: 'POST /api/rpc: requests, batches and what is neither',
  scene: 'service',
  shortCases: 70,
  cases: () =>
    Promise.resolve(
      httpCases({
        path: fc.constant('/api/rpc'),
        headers: withCredential(['user_jwt', 'admin_jwt', 'admin_token']),
        body: rpcMessage,
      }),
    ),
  async run(each, scene) {
    const answer = await sendCase(each, scene.rpcUrl, scene.values);
    const problems = await checkCase(each, answer, scene.rpcUrl, scene);
    if (each.hangsUp || each.method !== 'POST' || problems.length > 0) return problems;
    return [
      ...([200, 413].includes(answer.status) ? [] : [`status ${answer.status}`]),
      ...checkEnvelopes(answer.body.toString()),
    ];
  },
};
