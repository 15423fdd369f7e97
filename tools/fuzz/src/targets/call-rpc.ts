import { send, type Answer } from '../run/send.ts';
import type { ServiceScene } from '../target.ts';

/** Calls a method; its name and parameters are JSON, valid or not. */
export const callRpc = (
  scene: ServiceScene,
  credential: string,
  method: string,
  params: string,
): Promise<Answer> =>
  send(scene.rpcUrl, {
    method: 'POST',
    path: '/api/rpc',
    headers: { authorization: `Bearer ${scene.values[credential]}` },
    pieces: [
      Buffer.from(`{"jsonrpc":"2.0","id":1,"method":${method},"params":${params}}`, 'latin1'),
    ],
  });
