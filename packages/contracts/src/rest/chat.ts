import { z } from 'zod';
import { boundedArray } from '../bounded-array.ts';
import { checkCounts, choiceCount, countFields, tokenLimit } from '../counts.ts';
import { keepWritten, readWritten } from '../written-numbers.ts';
import { anyObject, anyValue, passFurtherFields } from '../open-object.ts';
import { replaceParse } from '../replace-parse.ts';
import { fallbackModelsSchema, providerSchema } from './provider.ts';

const MODEL_CHARS_MAX = 1_024;
const MESSAGES_MAX = 10_000;
const CONTENT_PARTS_MAX = 10_000;
const IMAGES_MAX = 1_024;
const TOOLS_MAX = 1_024;

/** The model of a request. Names are compared, shortened and counted, which takes long for a very long one. */
export const requestedModel = z.string().min(1).max(MODEL_CHARS_MAX);

// Images and tool calls are stored and forwarded unchanged, so their types stay open.
const images: z.ZodType = boundedArray(
  z.union(
    [
      z.string(),
      passFurtherFields(z.looseObject({ data: z.string() })),
      passFurtherFields(z.looseObject({ data_base64: z.string() })),
      // As a model generated it.
      passFurtherFields(z.looseObject({ image_url: z.looseObject({ url: z.string() }) })),
    ],
    { error: 'must be base64, a data URL, or an object with data_base64' },
  ),
  { max: IMAGES_MAX },
);
const toolCalls: z.ZodType = boundedArray(anyObject(), { max: TOOLS_MAX });

const contentPart = passFurtherFields(z.looseObject({ type: z.string() }));

// `function` is the older form of `tool`: the result of a `function_call`.
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;
const ROLE_NAMES: ReadonlySet<unknown> = new Set(ROLES);

/** A message as clients of the chat-completions convention send it; fields beyond these pass through. */
const chatMessageSchema = passFurtherFields(
  z
    .looseObject({
      role: z.enum(ROLES),
      content: z
        .union([z.string(), boundedArray(contentPart, { max: CONTENT_PARTS_MAX }), z.null()])
        .optional(),
      images: images.nullish(),
      tool_calls: toolCalls.nullish(),
    })
    // Only an assistant message may have no content, because it may consist of tool calls.
    .refine(({ role, content }) => role === 'assistant' || (content ?? null) !== null, {
      path: ['content'],
      message: 'required',
    }),
);

export type ChatMessage = z.output<typeof chatMessageSchema>;

/** Whether a message is only a role and a text, as nearly all are. */
function isTextMessage(value: unknown): value is ChatMessage {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 2) return false;
  const { role, content }: { role?: unknown; content?: unknown } = value;
  return typeof content === 'string' && ROLE_NAMES.has(role);
}

/** Whether a tool is a function without the name that the model calls it by: some engines fail with a 5xx for one. */
function isUnnamedFunction(tool: object): boolean {
  const {
    type,
    name,
    function: definition,
  }: { type?: unknown; name?: unknown; function?: unknown } = tool;
  const isFunction = type === 'function' || (type === undefined && definition !== undefined);
  if (!isFunction) return false;
  const named: unknown = isObject(definition) ? Reflect.get(definition, 'name') : undefined;
  return ![named, name].some((one) => typeof one === 'string' && one !== '');
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** A tool of any type; the upstream checks what it does not know. */
function toolSchema(): ReturnType<typeof anyObject> {
  const schema = anyObject();
  replaceParse(schema, (payload, _context, original) => {
    if (!isObject(payload.value) || !isUnnamedFunction(payload.value)) return original();
    const path = ['function', 'name'];
    const { value: input } = payload;
    payload.issues.push({ code: 'custom', message: 'required', path, input, inst: schema });
    return payload;
  });
  return schema;
}

/** The messages and tools of a chat turn, the same on every surface. */
export const chatFields = {
  messages: boundedArray(chatMessageSchema, {
    min: 1,
    max: MESSAGES_MAX,
    isValid: isTextMessage,
  }),
  tools: boundedArray(toolSchema(), { max: TOOLS_MAX }),
};

/** Further fields for the upstream. */
export const extraFields = anyValue().check(checkCounts).optional().meta({
  description: 'An object of further fields for the upstream; anything else is ignored.',
});

/** The body of `POST /v1/chat/completions`; fields beyond these pass through to the upstream. */
export const chatRequestSchema = passFurtherFields(
  z.looseObject({
    model: requestedModel,
    messages: chatFields.messages,
    stream: z.boolean().nullish(),
    temperature: keepWritten(z.number()).nullish(),
    max_tokens: tokenLimit.nullish(),
    max_completion_tokens: tokenLimit.nullish(),
    n: choiceCount.nullish(),
    conversation_id: z.string().nullish(),
    memory: z.boolean().nullish(),
    extra: extraFields,
    tools: chatFields.tools.nullish(),
    models: fallbackModelsSchema.nullish(),
    provider: providerSchema.nullish(),
  }),
  countFields,
);

export type ChatRequest = z.output<typeof chatRequestSchema>;

/** How many tokens a request took. */
export const tokenUsageSchema = z.object({
  prompt_tokens: readWritten(z.int().nonnegative()),
  completion_tokens: readWritten(z.int().nonnegative()),
  total_tokens: readWritten(z.int().nonnegative()),
});

export type TokenUsage = z.output<typeof tokenUsageSchema>;

/** The response to a chat turn without streaming. */
export const chatCompletionSchema = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: keepWritten(z.int()),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: keepWritten(z.int()),
      message: z.looseObject({ role: z.string() }),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: tokenUsageSchema.loose(),
});

/** The response of an upstream: usage is absent where it reported none. */
export const upstreamCompletionSchema = chatCompletionSchema.extend({
  usage: tokenUsageSchema.loose().nullish(),
});

export type UpstreamCompletion = z.output<typeof upstreamCompletionSchema>;
