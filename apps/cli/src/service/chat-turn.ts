import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RpcCallError } from '@model-gateway/client';
import type { RpcNotificationParams, RpcResult } from '@model-gateway/contracts';
import { CliError } from '../cli-error.ts';
import type { Service } from './service.ts';

export type ChatMessage = {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
};

interface TurnRequest {
  readonly model: string;
  readonly messages: ChatMessage[];
  readonly max_tokens?: number;
  readonly temperature?: number;
  readonly signal: AbortSignal;
  readonly onToken: (token: string) => void;
}

/** A finished turn. */
export interface TurnResult {
  readonly model: string;
  readonly content: string;
  readonly finish_reason: string | null;
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
  /** From the request to the first part of the reply. */
  readonly first_token_ms: number | null;
  readonly total_ms: number;
  /** Null while the turn is not recorded, and for models without a price. */
  readonly cost_usd: number | null;
  /** The backend that served it; null while the turn is not recorded. */
  readonly upstream: string | null;
  /** The usage row; null while the turn is not recorded. */
  readonly usage_id: string | null;
}

type ChatEvent = RpcNotificationParams<'chat.stream'>;
type TurnEnd = Extract<ChatEvent, { finish_reason: unknown }>;
type UsageRow = RpcResult<'usage.list'>['records'][number];

/** A row is recorded a moment after the reply. */
const RECORDED_WITHIN_MS = 5_000;
const RECORDED_POLL_MS = 100;
const NEWEST_ROWS = 50;

/** Runs a chat turn and reports its tokens as they arrive. */
export async function runTurn(service: Service, request: TurnRequest): Promise<TurnResult> {
  const { onToken, signal, ...params } = request;
  // Finds the usage row of this turn among others of the same user.
  const ref_id = `cli-${randomUUID()}`;
  const startedAt = performance.now();
  const { stream_id } = await service.call('chat.send', { ...params, ref_id });
  let content = '';
  let firstTokenMs: number | null = null;
  for await (const event of service.user.subscribe(stream_id, { signal })) {
    if (!('method' in event) || event.method !== 'chat.stream') continue;
    const part: ChatEvent = event.params;
    if (part.is_complete) {
      const end = successful(part);
      const totalMs = since(startedAt);
      const row = await recordedRow(service, ref_id, signal);
      return {
        model: end.model,
        content,
        finish_reason: end.finish_reason,
        usage: end.usage,
        first_token_ms: firstTokenMs,
        total_ms: totalMs,
        cost_usd: row?.cost ?? null,
        upstream: row?.upstream ?? null,
        usage_id: row?.id ?? null,
      };
    }
    firstTokenMs ??= since(startedAt);
    content += part.token;
    onToken(part.token);
  }
  throw new CliError(
    'failed',
    'the stream ended before the reply was complete',
    'Try again; gateway doctor checks the service.',
  );
}

/** Whole milliseconds. */
const since = (startedAt: number): number => Math.round(performance.now() - startedAt);

function successful(end: ChatEvent): TurnEnd {
  if ('finish_reason' in end) return end;
  const { code, message } = 'error' in end ? end.error : { code: 0, message: 'no reply' };
  throw new RpcCallError(code, message);
}

async function recordedRow(
  service: Service,
  ref: string,
  signal: AbortSignal,
): Promise<UsageRow | undefined> {
  const startedAt = performance.now();
  for (;;) {
    const { records } = await service.call('usage.list', { limit: NEWEST_ROWS });
    const row = records.find(({ ref_id }) => ref_id === ref);
    if (row !== undefined) return row;
    if (signal.aborted || performance.now() - startedAt > RECORDED_WITHIN_MS) return undefined;
    await sleep(RECORDED_POLL_MS);
  }
}
