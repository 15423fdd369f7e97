import type { ChatRequest } from '@model-gateway/contracts';
import { z } from 'zod';
import type { DialectRequest } from '../dialect.ts';
import { gatewayFieldsOf } from '../gateway-fields.ts';
import { chatOfTurn } from '../turn/chat-of-turn.ts';
import { present } from '../turn/fields.ts';
import type { OutputFormat, Turn, TurnMessage } from '../turn/turn.ts';
import { responsesBodySchema, type Item, type ResponsesBody } from './body.ts';
import { FieldProblem } from './field-problem.ts';
import { createIgnored } from './ignored.ts';
import { messagesOf, typeOf } from './items.ts';
import { readTools, type ToolSet } from './tools.ts';
import { noteIgnored, refuseFields } from './other-fields.ts';

/** A request of `POST /v1/responses`. */
export interface ResponsesRequest extends DialectRequest {
  readonly body: ResponsesBody;
  /** The items of this request, without those of earlier responses. */
  readonly input: readonly Item[];
  readonly tools: ToolSet;
  /** Of the response. Like the next two, it is set when the request is completed. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly isStored: boolean;
}

/** What completes a request. */
export interface ResponsesContext {
  readonly id: string;
  readonly createdAt: number;
  readonly isStored: boolean;
  /** The items of earlier responses, oldest first. */
  readonly previous: readonly Item[];
  /** The items that `item_reference` names, by their ids. */
  readonly referenced: ReadonlyMap<string, Item>;
}

/** Checks a body and translates what can be translated without earlier responses. */
export const responsesRequestSchema: z.ZodType<ResponsesRequest> = responsesBodySchema.transform(
  (body, context): ResponsesRequest => {
    try {
      return requestOf(body);
    } catch (error) {
      if (!(error instanceof FieldProblem)) throw error;
      context.addIssue({ code: 'custom', path: [...error.path], message: error.message });
      return z.NEVER;
    }
  },
);

function requestOf(body: ResponsesBody): ResponsesRequest {
  refuseFields(body);
  const ignored = createIgnored();
  noteIgnored(body, ignored);
  const input = inputOf(body);
  const tools = readTools(body, ignored);
  const messages = messagesOf(input.filter(isNoReference), ignored, ['input']);
  return {
    model: body.model,
    models: body.models,
    chat: chatOf(body, tools, messages),
    ignored: ignored.list(),
    body,
    input,
    tools,
    id: '',
    createdAt: 0,
    isStored: false,
  };
}

const isNoReference = (item: Item): boolean => typeOf(item) !== 'item_reference';

function inputOf({ input, previous_response_id: previous }: ResponsesBody): readonly Item[] {
  if (typeof input === 'string') {
    const content = [{ type: 'input_text', text: input }];
    return [{ type: 'message', role: 'user', content }];
  }
  if ((input ?? []).length === 0 && typeof previous !== 'string') {
    throw new FieldProblem(['input'], 'required: a text or a list of items');
  }
  return input ?? [];
}

/** The ids that `item_reference` names. */
export const referencesOf = ({ input }: Pick<ResponsesRequest, 'input'>): readonly string[] =>
  input.flatMap((item) =>
    isNoReference(item) || typeof item['id'] !== 'string' ? [] : [item['id']],
  );

/** The request with its id, and with the items of earlier responses before its own. */
export function completeRequest(
  request: ResponsesRequest,
  { id, createdAt, isStored, previous, referenced }: ResponsesContext,
): ResponsesRequest {
  const { body, tools } = request;
  const input = request.input.map((item) =>
    isNoReference(item) ? item : (referenced.get(String(item['id'])) ?? item),
  );
  const named = { ...request, id, createdAt, isStored, input };
  if (previous.length === 0 && referenced.size === 0) return named;
  const ignored = createIgnored();
  const messages = messagesOf([...previous, ...input], ignored, ['previous_response_id']);
  return {
    ...named,
    chat: chatOf(body, tools, messages),
    ignored: [...new Set([...request.ignored, ...ignored.list()])],
  };
}

function chatOf(
  body: ResponsesBody,
  { functions, choice }: ToolSet,
  messages: readonly TurnMessage[],
): ChatRequest {
  const { instructions } = body;
  const system: readonly TurnMessage[] =
    typeof instructions === 'string' && instructions !== ''
      ? [{ role: 'system', parts: [{ type: 'text', text: instructions }] }]
      : [];
  const turn: Turn = {
    model: body.model,
    messages: [...system, ...messages],
    tools: functions,
    ...present({
      toolChoice: choice,
      parallelToolCalls: body.parallel_tool_calls ?? undefined,
      output: outputOf(body),
      reasoning:
        typeof body.reasoning?.effort === 'string' ? { effort: body.reasoning.effort } : undefined,
      maxTokens: body.max_output_tokens ?? undefined,
      temperature: body.temperature ?? undefined,
      topP: body.top_p ?? undefined,
      stream: body.stream ?? undefined,
      user: body.user ?? body.safety_identifier ?? undefined,
    }),
    further: furtherOf(body),
  };
  return chatOfTurn(turn);
}

function outputOf({ text }: ResponsesBody): OutputFormat | undefined {
  const format = text?.format ?? undefined;
  if (format === undefined || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: format.type };
  const { schema } = format;
  if (schema === null || schema === undefined) {
    throw new FieldProblem(['text', 'format', 'schema'], 'required');
  }
  return {
    type: format.type,
    name: format.name ?? 'answer',
    schema,
    ...present({
      description: format.description ?? undefined,
      strict: format.strict ?? undefined,
    }),
  };
}

/** Fields that chat completions has under the same names, and the gateway's own. */
function furtherOf(body: ResponsesBody): Readonly<Record<string, unknown>> {
  const { service_tier: tier } = body;
  const isSpecial = typeof tier === 'string' && tier !== 'auto' && tier !== 'default';
  return present({
    service_tier: isSpecial ? tier : undefined,
    verbosity: body.text?.verbosity ?? undefined,
    ...gatewayFieldsOf(body),
  });
}
