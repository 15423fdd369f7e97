import type { FinishReason, TurnUsage } from '@model-gateway/contracts';
import type { Item } from './body.ts';
import type { ResponsesRequest } from './request.ts';

/** The default of this API for `temperature` and `top_p`; its clients expect numbers. */
const DEFAULT_SAMPLING = 1;

/** What changes while a response is generated. */
export interface ResponseState {
  readonly model: string;
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly Item[];
  readonly usage?: TurnUsage | undefined;
  readonly incompleteReason?: 'max_output_tokens' | 'content_filter' | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** The Response object of the API. */
export function responseObject(request: ResponsesRequest, state: ResponseState): Item {
  const { body, tools } = request;
  const { incompleteReason, usage } = state;
  return {
    id: request.id,
    object: 'response',
    created_at: request.createdAt,
    // Set when the response is kept: nothing here knows the time.
    completed_at: null,
    status: state.status,
    background: false,
    error: state.error ?? null,
    frequency_penalty: body.frequency_penalty ?? 0,
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    model: state.model,
    output: state.output,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: body.presence_penalty ?? 0,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: {
      effort: body.reasoning?.effort ?? null,
      summary: body.reasoning?.summary ?? null,
    },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: body.service_tier ?? 'default',
    store: request.isStored,
    temperature: body.temperature ?? DEFAULT_SAMPLING,
    text: {
      format: body.text?.format ?? { type: 'text' },
      verbosity: body.text?.verbosity ?? 'medium',
    },
    tool_choice: body.tool_choice ?? 'auto',
    tools: tools.shown,
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? DEFAULT_SAMPLING,
    truncation: 'disabled',
    usage: usage === undefined ? null : responseUsage(usage),
    user: body.user ?? null,
    metadata: body.metadata ?? {},
  };
}

/** The usage of a response. */
export const responseUsage = (usage: TurnUsage) => ({
  input_tokens: usage.promptTokens,
  input_tokens_details: {
    cached_tokens: usage.cachedTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
  },
  output_tokens: usage.completionTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  total_tokens: usage.promptTokens + usage.completionTokens,
});

/** Why an answer that ended so is not complete. */
export const INCOMPLETE: Readonly<Record<FinishReason, ResponseState['incompleteReason']>> = {
  stop: undefined,
  tool_calls: undefined,
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};
