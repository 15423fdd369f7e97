import {
  ServiceError,
  type ChatRequest,
  type OutputFormat,
  type Turn,
  type TurnMessage,
} from '@model-gateway/contracts';
import { gatewayFieldsOf } from '../gateway-fields.ts';
import { chatOfTurn } from '../chat/write-request.ts';
import { present } from '../turn/fields.ts';
import type { Item, ResponsesBody } from './body.ts';
import { FieldProblem, type Path } from './field-problem.ts';
import { createIgnored } from './ignored.ts';
import { messagesOf } from './items.ts';
import { noteIgnored } from './other-fields.ts';
import { noTools, readTools, type ToolSet } from './tools.ts';

/** What upstreams of other APIs get. */
export interface Translation {
  readonly tools: ToolSet;
  readonly chat: ChatRequest;
  /** The messages of the chat, in the form between APIs. */
  readonly messages: readonly TurnMessage[];
  readonly ignored: readonly string[];
  /** Why they cannot get it; the chat then has what could be translated, for estimates. */
  readonly refusal: ServiceError | undefined;
}

/** Translates a request; what cannot be translated becomes its refusal. */
export function translate(body: ResponsesBody, items: readonly Item[], at: Path): Translation {
  const ignored = createIgnored();
  noteIgnored(body, ignored);
  const problems: ServiceError[] = [];
  const tools = orElse(
    problems,
    () => readTools(body, ignored),
    () => orElse(problems, () => readTools({ ...body, tool_choice: null }, ignored), noTools),
  );
  const said = orElse(
    problems,
    () => messagesOf(items, ignored, at),
    () =>
      items.flatMap((item) =>
        orElse(
          problems,
          () => messagesOf([item], ignored, at),
          () => [],
        ),
      ),
  );
  const messages = [...instructionsOf(body), ...said];
  const chat = chatOf(body, tools, messages);
  return { tools, chat, messages, ignored: ignored.list(), refusal: problems[0] };
}

/** Reads something; a problem is kept, and the rest is read in another way. */
function orElse<Value>(problems: ServiceError[], read: () => Value, rest: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof FieldProblem) {
      const message = `'${error.path.join('.')}': ${error.message}`;
      problems.push(new ServiceError('missing_fields', message));
    } else if (error instanceof ServiceError) problems.push(error);
    else throw error;
    return rest();
  }
}

function chatOf(
  body: ResponsesBody,
  { functions, choice }: ToolSet,
  messages: readonly TurnMessage[],
): ChatRequest {
  const turn: Turn = {
    model: body.model,
    messages,
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
      topK: body.top_k ?? undefined,
      stop: typeof body.stop === 'string' ? [body.stop] : (body.stop ?? undefined),
      stream: body.stream ?? undefined,
      user: body.user ?? body.safety_identifier ?? undefined,
    }),
    further: furtherOf(body),
  };
  return chatOfTurn(turn);
}

function instructionsOf({ instructions }: ResponsesBody): readonly TurnMessage[] {
  if (typeof instructions !== 'string' || instructions === '') return [];
  return [{ role: 'system', parts: [{ type: 'text', text: instructions }] }];
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

/** Fields that chat completions and its engines have under the same names. */
const SAME_FIELDS = [
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'chat_template_kwargs',
] as const satisfies readonly (keyof ResponsesBody)[];

/** Fields that are the same in chat completions, and the gateway's own. */
function furtherOf(body: ResponsesBody): Readonly<Record<string, unknown>> {
  const logprobs = body.top_logprobs ?? 0;
  const { service_tier: tier } = body;
  const isSpecial = typeof tier === 'string' && tier !== 'auto' && tier !== 'default';
  return present({
    service_tier: isSpecial ? tier : undefined,
    verbosity: body.text?.verbosity ?? undefined,
    ...Object.fromEntries(SAME_FIELDS.map((name) => [name, body[name] ?? undefined])),
    ...(logprobs > 0 ? { logprobs: true, top_logprobs: logprobs } : {}),
    ...gatewayFieldsOf(body),
  });
}
