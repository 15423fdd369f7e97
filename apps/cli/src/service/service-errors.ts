import { RpcCallError, RpcConnectionError } from '@model-gateway/client';
import { CliError, type CliErrorCode } from '../cli-error.ts';
import { isObject, RestError } from './rest.ts';

const QUOTA = -32_006;

/** What the codes of the management plane mean here. */
const RPC_CODES: Readonly<Record<number, CliErrorCode>> = {
  [-32_005]: 'not_signed_in',
  [QUOTA]: 'limit_reached',
  [-32_007]: 'admin_required',
  [-32_602]: 'usage',
};

const REST_CODES: Readonly<Record<number, CliErrorCode>> = {
  400: 'usage',
  401: 'not_signed_in',
  402: 'limit_reached',
  403: 'admin_required',
  404: 'not_found',
  429: 'limit_reached',
};

/** What was thrown, as an error with the next step. */
export function toCliError(error: unknown, url: string): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof RpcConnectionError) return unreachable(error, url);
  if (error instanceof RpcCallError) return refusal(codeOfCall(error), error, url);
  if (error instanceof RestError) return refusal(REST_CODES[error.status] ?? 'failed', error, url);
  const message = error instanceof Error ? error.message : String(error);
  return new CliError('failed', message, undefined, error);
}

function codeOfCall({ code, message, data }: RpcCallError): CliErrorCode {
  const isLimit = isObject(data) && 'retry_after_secs' in data;
  if (isLimit && code === -32_000) return 'limit_reached';
  if (/ not found\b/.test(message)) return 'not_found';
  return RPC_CODES[code] ?? 'failed';
}

function refusal(code: CliErrorCode, error: Error, url: string): CliError {
  return new CliError(code, error.message, nextStep(code, url), error);
}

function nextStep(code: CliErrorCode, url: string): string | undefined {
  switch (code) {
    case 'not_signed_in':
      return `Sign in again: gateway login --url ${url}`;
    case 'admin_required':
      return 'Sign in with an account that may do this; the first account of an installation is its admin.';
    case 'limit_reached':
      return 'Show your limits: gateway plan show. An operator changes them: gateway plan set <email> <tier>';
    case 'usage':
      return 'Correct the value; every command has --help with examples.';
    case 'not_found':
    case 'failed':
      return 'Check the installation: gateway doctor';
    default:
      return undefined;
  }
}

function unreachable(error: RpcConnectionError, url: string): CliError {
  if (error.problem === 'bad-answer') {
    return new CliError(
      'unreachable',
      `${url} answers, but not as a Model Gateway: ${error.message}`,
      'Check the address (--url, GATEWAY_URL); it is the base URL, without /v1.',
      error,
    );
  }
  const reason = reasonOf(error.cause) ?? error.message;
  return new CliError(
    'unreachable',
    `${url} cannot be reached: ${reason}`,
    'Start the service (npm start, or npx model-gateway without a clone), or name another address with --url or GATEWAY_URL. gateway doctor checks it.',
    error,
  );
}

/** The innermost reason of a failed `fetch`, such as `connect ECONNREFUSED 127.0.0.1:8080`. */
function reasonOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return reasonOf(error.cause) ?? (error.message === '' ? codeOf(error) : error.message);
}

/** Several failed addresses have no message together, only a code. */
const codeOf = (error: Error): string | undefined =>
  'code' in error && typeof error.code === 'string' ? error.code : undefined;
