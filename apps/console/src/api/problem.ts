import { RpcCallError, RpcConnectionError } from '@model-gateway/client';
import { HttpError } from './session.ts';
import type { TextKey } from '../texts/texts.ts';

/** What went wrong, for people. */
export interface Problem {
  /** In words of the service, where it responded. */
  readonly message: string | undefined;
  /** What kind of problem it is. */
  readonly title: TextKey;
  /** What to do about it. */
  readonly remedy: TextKey;
  readonly requestId: string | undefined;
  readonly retryAfterSecs: number | undefined;
  /** The page that explains the error. */
  readonly doc: string | undefined;
  /** By the name of the field, where the service refused single fields. */
  readonly fields: Readonly<Record<string, string>>;
}

interface ErrorData {
  readonly request_id?: string;
  readonly retry_after_secs?: number;
  readonly doc?: string;
  readonly issues?: readonly { readonly path: string; readonly message: string }[];
}

/** By the code of a call that was refused. */
const RPC_PROBLEMS: Readonly<Record<number, readonly [title: TextKey, remedy: TextKey]>> = {
  [-32_602]: ['error.invalid', 'error.invalid.remedy'],
  [-32_601]: ['error.unknown_method', 'error.unknown_method.remedy'],
  [-32_005]: ['error.signed_out', 'error.signed_out.remedy'],
  [-32_006]: ['error.quota', 'error.quota.remedy'],
  [-32_007]: ['error.forbidden', 'error.forbidden.remedy'],
  [-32_603]: ['error.internal', 'error.internal.remedy'],
};

export function problemOf(error: unknown): Problem {
  if (error instanceof RpcCallError) {
    const data = (error.data ?? {}) as ErrorData;
    const [title, remedy] = RPC_PROBLEMS[error.code] ?? ['error.refused', 'error.refused.remedy'];
    return {
      message: error.message,
      title,
      remedy,
      requestId: data.request_id,
      retryAfterSecs: data.retry_after_secs,
      doc: data.doc,
      fields: Object.fromEntries((data.issues ?? []).map(({ path, message }) => [path, message])),
    };
  }
  if (error instanceof HttpError) {
    const isOurs = error.status >= 500;
    return {
      ...NOTHING,
      message: error.message,
      title: isOurs ? 'error.internal' : 'error.refused',
      remedy: isOurs ? 'error.internal.remedy' : 'error.refused.remedy',
      requestId: error.requestId,
      retryAfterSecs: error.retryAfterSecs,
    };
  }
  const isAway = error instanceof RpcConnectionError || error instanceof TypeError;
  if (isAway) return { ...NOTHING, title: 'error.connection', remedy: 'error.connection.remedy' };
  return {
    ...NOTHING,
    message: error instanceof Error ? error.message : String(error),
    title: 'error.page',
    remedy: 'error.page.remedy',
  };
}

/** What to do about a call that changes something: the page does not make it again by itself. */
export const remedyOfCall = (remedy: TextKey): TextKey =>
  remedy === 'error.connection.remedy' ? 'error.connection.action' : remedy;

const NOTHING = {
  message: undefined,
  requestId: undefined,
  retryAfterSecs: undefined,
  doc: undefined,
  fields: {},
};
