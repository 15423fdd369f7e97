import { RpcCallError } from '@model-gateway/client';
import type { RpcInput } from '@model-gateway/contracts';
import type { Api } from '../../api/api.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
  /** Data URLs. */
  readonly images?: readonly string[];
}

/** What is known when an answer is complete. */
export interface ChatEnd {
  readonly model: string | undefined;
  readonly promptTokens: number | undefined;
  readonly completionTokens: number | undefined;
  readonly firstTokenMs: number | undefined;
  readonly totalMs: number;
  readonly memory: string;
}

interface TurnOptions {
  readonly onToken: (token: string) => void;
  readonly onToolCalls?: (toolCalls: readonly unknown[]) => void;
  readonly signal: AbortSignal;
}

/** The model or its backend failed; nothing is wrong with what it was asked. */
export class ModelFailure extends RpcCallError {}

const REFUSED = -32_000;
/** What a backend answers that does not accept the key of the service, or has no time. */
const NOT_ITS_REQUEST: readonly number[] = [401, 403, 408, 409, 425, 429];

/** The error at the end of a stream. A 4xx of the backend says what is wrong with the request. */
export function streamError(
  code: number,
  message: string,
  data: Readonly<Record<string, unknown>> | undefined,
): RpcCallError {
  const status = upstreamOf(data)?.status ?? 0;
  const isRefusal = status >= 400 && status < 500 && !NOT_ITS_REQUEST.includes(status);
  return code === REFUSED && !isRefusal
    ? new ModelFailure(code, message, data)
    : new RpcCallError(code, message, data);
}

/** What the backend answered in place of a completion, if it did. */
export const upstreamOf = (
  data: unknown,
): { readonly status: number; readonly message?: string } | undefined =>
  (data as { readonly upstream?: { readonly status: number } } | undefined)?.upstream;

/** Streams one answer. When the signal is aborted, the upstream is stopped, and the reason of the signal is thrown. */
export async function runTurn(
  api: Pick<Api, 'call' | 'subscribe'>,
  request: RpcInput<'chat.send'>,
  { onToken, onToolCalls, signal }: TurnOptions,
): Promise<ChatEnd> {
  const startedAt = performance.now();
  const { stream_id: streamId, memory } = await api.call('chat.send', request);
  // A turn continues when its listener disconnects, so it is stopped by a call. One that has ended needs none.
  const stop = (): void =>
    void api.call('chat.stop', { stream_id: streamId }).catch(() => undefined);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  let firstTokenMs: number | undefined;
  try {
    for await (const event of api.subscribe(streamId, signal)) {
      if (!('method' in event) || event.method !== 'chat.stream') continue;
      const { params } = event;
      if (!params.is_complete) {
        firstTokenMs ??= performance.now() - startedAt;
        onToken(params.token);
        if (params.tool_calls !== undefined) onToolCalls?.(params.tool_calls);
        continue;
      }
      if ('error' in params && params.error !== undefined) {
        const { code, message, data } = params.error;
        throw streamError(code, message, data);
      }
      const usage = 'usage' in params ? params.usage : undefined;
      return {
        model: 'model' in params ? params.model : undefined,
        promptTokens: usage?.prompt_tokens,
        completionTokens: usage?.completion_tokens,
        firstTokenMs,
        totalMs: performance.now() - startedAt,
        memory,
      };
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  throw new Error('the stream ended before the answer was complete');
}
