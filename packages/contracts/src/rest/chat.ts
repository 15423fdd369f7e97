import { z } from 'zod';

const anyObject = z.record(z.string(), z.unknown());

// Images and tool calls are stored and forwarded unchanged, so their types stay open.
const images: z.ZodType = z.array(
  z.union(
    [z.string(), z.looseObject({ data: z.string() }), z.looseObject({ data_base64: z.string() })],
    { error: 'must be base64, a data URL, or an object with data_base64' },
  ),
);
const toolCalls: z.ZodType = z.array(anyObject);

/** A message as clients of the chat-completions convention send it; fields beyond these pass through. */
export const chatMessageSchema = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
    content: z
      .union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()])
      .optional(),
    images: images.nullish(),
    tool_calls: toolCalls.nullish(),
  })
  // Only an assistant message may have no content, because it may consist of tool calls.
  .refine(({ role, content }) => role === 'assistant' || (content ?? null) !== null, {
    path: ['content'],
    message: 'required',
  });

export type ChatMessage = z.output<typeof chatMessageSchema>;

/** The body of `POST /v1/chat/completions`; fields beyond these pass through to the upstream. */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1),
  messages: z.array(chatMessageSchema).min(1),
  stream: z.boolean().nullish(),
  temperature: z.number().nullish(),
  max_tokens: z.int().positive().nullish(),
  conversation_id: z.string().nullish(),
  memory: z.boolean().nullish(),
  extra: z.unknown().optional().meta({
    description: 'An object of further fields for the upstream; anything else is ignored.',
  }),
  tools: z.array(anyObject).nullish(),
  provider: z.string().nullish(),
});

export type ChatRequest = z.output<typeof chatRequestSchema>;

/** How many tokens a request took. */
export const tokenUsageSchema = z.object({
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative(),
  total_tokens: z.int().nonnegative(),
});

export type TokenUsage = z.output<typeof tokenUsageSchema>;

/** The response to a chat turn without streaming. */
export const chatCompletionSchema = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int(),
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
