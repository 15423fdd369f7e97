import type { ServiceError } from '@model-gateway/contracts';
import { REST_ERRORS } from '@model-gateway/http';

/** The last event of a session that ends because a response was refused, in the form of the errors of the upstream. */
export function refusalEvent({ code: name, message }: ServiceError): string {
  const { type, code } = REST_ERRORS[name];
  return JSON.stringify({ type: 'error', error: { type, code, message, param: null } });
}
