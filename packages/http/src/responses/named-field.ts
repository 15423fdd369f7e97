import type { ServiceError } from '@model-gateway/contracts';

/** How messages about one field begin. */
const FIELD_FORMS: readonly RegExp[] = [
  /^'([\w.[\]-]+)'[: ]/,
  /^([a-z]\w*(?:\.\w+)*): /,
  /^the field '([^']+)' /,
  /^Missing '(\w+)' field/,
];

/** The field of the request that an error is about, as its message names it; null for other errors. */
export function namedField({ details, message }: ServiceError): string | null {
  const param = details?.['param'];
  if (typeof param === 'string') return param;
  for (const form of FIELD_FORMS) {
    const named = form.exec(message)?.[1];
    if (named !== undefined) return named;
  }
  return null;
}
