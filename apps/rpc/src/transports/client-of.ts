import type { IncomingMessage } from 'node:http';
import { isDirectLoopback, type ClientIp } from '@model-gateway/http';
import type { Credentials } from '../protocol/authorize.ts';

/** Where a request comes from. */
export type ClientOf = (
  request: IncomingMessage,
) => Pick<Credentials, 'clientIp' | 'isLocalClient'>;

export const createClientOf =
  (clientIp: ClientIp): ClientOf =>
  (request) => ({ clientIp: clientIp(request), isLocalClient: isDirectLoopback(request) });
