import { randomId, RpcCallError } from '@model-gateway/client';
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
  /** The reference in the usage row. */
  readonly refId: string;
}

interface TurnOptions {
  readonly onToken: (token: string) => void;
  readonly onToolCalls?: (toolCalls: readonly unknown[]) => void;
  readonly signal: AbortSignal;
}

type TurnRequest = Omit<RpcInput<'chat.send'>, 'ref_id'>;

/** Streams one answer. When the signal is aborted, the upstream is stopped, and the reason of the signal is thrown. */
export async function runTurn(
  api: Pick<Api, 'call' | 'subscribe'>,
  request: TurnRequest,
  { onToken, onToolCalls, signal }: TurnOptions,
): Promise<ChatEnd> {
  const refId = `console-${randomId()}`;
  const startedAt = performance.now();
  const { stream_id: streamId, memory } = await api.call('chat.send', {
    ...request,
    ref_id: refId,
  });
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
      if ('error' in params && params.error !== undefined)
        throw new RpcCallError(params.error.code, params.error.message);
      const usage = 'usage' in params ? params.usage : undefined;
      return {
        model: 'model' in params ? params.model : undefined,
        promptTokens: usage?.prompt_tokens,
        completionTokens: usage?.completion_tokens,
        firstTokenMs,
        totalMs: performance.now() - startedAt,
        memory,
        refId,
      };
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  throw new Error('the stream ended before the answer was complete');
}
