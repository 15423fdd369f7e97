import type { ServiceError } from '@model-gateway/contracts';
import { REST_ERRORS } from '@model-gateway/http';

/** Why a session ends that its client did not stop. */
export type SessionEnd = keyof typeof ENDS;

const ENDS = {
  upstream_gone: {
    type: 'server_error',
    code: 'bad_gateway',
    message: 'the upstream ended the session',
  },
  process_gone: {
    type: 'server_error',
    code: 'bad_gateway',
    message: 'the process of the session has ended; open another session',
  },
  stopping: {
    type: 'server_error',
    code: 'bad_gateway',
    message: 'the service is stopping; open another session',
  },
  expired: {
    type: 'invalid_request',
    code: 'session_expired',
    message: 'the session was idle or open for too long; open another one',
  },
  signed_out: {
    type: 'auth_error',
    code: 'unauthorized',
    message: 'the sign-in that started the session has ended',
  },
} as const;

/** The last event of a session that ends because a response was refused, in the form of the errors of the upstream. */
export function refusalEvent({ code: name, message }: ServiceError): string {
  const { type, code } = REST_ERRORS[name];
  return errorEvent({ type, code, message });
}

/** The last event of a session that its client did not stop: without it a listener would wait forever. */
export const endEvent = (end: SessionEnd): string => errorEvent(ENDS[end]);

const errorEvent = (error: object): string =>
  JSON.stringify({ type: 'error', error: { ...error, param: null } });
