import type { ErrorCode } from '@model-gateway/contracts';
import { REST_ERRORS } from './rest-errors.ts';

/** The row of an error on the page of error codes. Errors may share a code; the code alone is the first of them. */
export function errorAnchor(name: ErrorCode): string {
  const { code } = REST_ERRORS[name];
  const first = Object.entries(REST_ERRORS).find(([, error]) => error.code === code)?.[0];
  return name === first ? code : `${code}-${name}`;
}
