import type { ErrorCode } from '@model-gateway/contracts';
import { REST_ERRORS } from './rest-error-table.ts';

/** The first error of each code. */
const firstOfCode = new Map(
  Object.entries(REST_ERRORS)
    .toReversed()
    .map(([name, { code }]) => [code, name]),
);

/** The row of an error on the page of error codes. Errors may share a code; the code alone is the first of them. */
export function errorAnchor(name: ErrorCode): string {
  const { code } = REST_ERRORS[name];
  return firstOfCode.get(code) === name ? code : `${code}-${name}`;
}
