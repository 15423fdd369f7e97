import type { IncomingMessage } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';

const REF_CHARS_MAX = 64;

/** The attribution reference in the header of a request. */
export function serviceRefOf(request: IncomingMessage): string | null {
  const header = request.headers['x-service-ref'];
  const ref = typeof header === 'string' ? textOf(header).trim() : '';
  if (ref.length > REF_CHARS_MAX) {
    throw new ServiceError(
      'bad_ref',
      `x-service-ref must have at most ${REF_CHARS_MAX} characters`,
    );
  }
  return ref === '' ? null : ref;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Node decodes headers as Latin-1, but clients that send more than ASCII send UTF-8. */
function textOf(header: string): string {
  if (!/[^\x20-\x7e]/.test(header)) return header;
  try {
    return UTF8.decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}
