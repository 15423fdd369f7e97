import type { ErrorCode } from '@model-gateway/contracts';
import { REST_ERRORS } from './rest-error-table.ts';

/** The first error of each code. */
const firstOfCode = new Map(
  Object.entries(REST_ERRORS)
    .toReversed()
    .map(([name, { code }]) => [code, name]),
);

/**
 * The anchor of an error on the page of error codes. Several errors may have the same code; the code alone leads to the first
 * of them.
 */
export function errorAnchor(name: ErrorCode): string {
  const { code } = REST_ERRORS[name];
  return firstOfCode.get(code) === name ? code : `${code}-${name}`;
}
