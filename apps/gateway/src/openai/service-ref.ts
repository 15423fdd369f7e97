import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';

const REF_CHARS_MAX = 64;

/** The attribution reference that a caller tagged its request with. */
export function serviceRefOf(request: IncomingMessage): string | null {
  const header = request.headers['x-service-ref'];
  const ref = typeof header === 'string' ? header.trim() : '';
  if (ref.length > REF_CHARS_MAX) {
    throw new ServiceError('bad_ref', `x-service-ref may have at most ${REF_CHARS_MAX} characters`);
  }
  return ref === '' ? null : ref;
}
