import {
  anyObject,
  boundedArray,
  countFields,
  keepWritten,
  passFurtherFields,
  ServiceError,
  tokenCount,
  type ChangeText,
  type OutputFormat,
  type ReasoningOptions,
  type ToolChoice,
  type Turn,
  type TurnMessage,
} from '@model-gateway/contracts';
import { sha256Hex } from '@model-gateway/kernel';
import { z } from 'zod';
import type { DialectRequest, OwnRequest } from '../dialect.ts';
import { GATEWAY_FIELDS, gatewayFields, gatewayFieldsOf } from '../gateway-fields.ts';
import { chatOfTurn } from '../chat/write-request.ts';
import { fieldOf, numberField, present, textField } from '../turn/fields.ts';
import { changedContent, changedMessage } from '../turn/texts.ts';
import { ownBody } from './own-body.ts';
import { systemMessages, turnMessages, type LeftOut } from './content.ts';
import { toolsOf, type OfferedTools } from './tools.ts';

/** The name of this API among the APIs. */
export const MESSAGES_API = 'messages';

const MESSAGES_MAX = 10_000;
const BLOCKS_MAX = 10_000;
const TOOLS_MAX = 1_024;
const STOPS_MAX = 1_024;
const USER_CHARS_MAX = 64;

const blocks = boundedArray(passFurtherFields(z.looseObject({ type: z.string() })), {
  max: BLOCKS_MAX,
});
const content = z.union([z.string(), blocks], { error: 'must be a text or a list of blocks' });

/** A body as clients send it. */
export const messagesBodySchema = passFurtherFields(
  z.looseObject({
    ...gatewayFields,
    max_tokens: tokenCount.optional(),
    messages: boundedArray(
      passFurtherFields(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content })),
      { min: 1, max: MESSAGES_MAX },
    ),
    system: content.nullish(),
    stream: z.boolean().nullish(),
    temperature: keepWritten(z.number()).nullish(),
    top_p: keepWritten(z.number()).nullish(),
    top_k: keepWritten(z.int()).nullish(),
    stop_sequences: boundedArray(z.string(), { max: STOPS_MAX }).nullish(),
    tools: boundedArray(anyObject(), { max: TOOLS_MAX }).nullish(),
    tool_choice: anyObject().nullish(),
    thinking: anyObject().nullish(),
    output_config: anyObject().nullish(),
    output_format: anyObject().nullish(),
    metadata: anyObject().nullish(),
  }),
  countFields,
);

type MessagesBody = z.output<typeof messagesBodySchema>;

/** The fields that are translated; others are left out and named, unless they demand something. */
const TRANSLATED: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  ...Object.keys(messagesBodySchema.shape),
  // A hint for upstreams of this API, which get it unchanged; for others it has no meaning.
  'cache_control',
]);

/** The fields of `output_config` that are translated. */
const OUTPUT_FIELDS: ReadonlySet<string> = new Set(['effort', 'format']);

/** A request that was translated. */
interface MessagesRequest extends DialectRequest {
  /** As it was sent. */
  readonly body: MessagesBody;
  readonly own: OwnRequest;
}

/** The body of `POST /v1/messages`. */
export const messagesRequest: z.ZodType<MessagesRequest> = messagesBodySchema
  .refine(({ max_tokens: tokens }) => tokens !== undefined, {
    path: ['max_tokens'],
    message: 'required',
  })
  .transform(translated);

/** The body of `POST /v1/messages/count_tokens`. */
export const countTokensRequest: z.ZodType<MessagesRequest> =
  messagesBodySchema.transform(translated);

function translated(given: MessagesBody): MessagesRequest {
  assertNoServers(given);
  assertNoThread(given);
  assertNoContainer(given);
  const offered = toolsOf(given.tools ?? []);
  const ignored = new Set(offered.ignored);
  for (const name of Object.keys(given)) if (!TRANSLATED.has(name)) ignored.add(name);
  const body = withOutputConfig(translatedFields(given));
  const lost = new Set(offered.lost);
  const options = optionsOf(body, offered, ignored);
  const messages = messagesOf(body, { ignored, lost });
  const turn: Turn = { model: body.model, messages, tools: offered.tools, ...options };
  const relayed = relayedBody(body, offered);
  return {
    model: body.model,
    models: body.models,
    body: given,
    chat: { ...chatOfTurn(turn), ...gatewayFieldsOf(body) },
    own: {
      api: MESSAGES_API,
      messages,
      bodyWith: (added) => ownBody(relayed, added),
      lost: [...lost],
    },
    ignored: [...ignored],
    ignoredInRelay: [...ignored],
  };
}

/** The request with other texts; what was noted of it stays noted. */
export function editedMessages(
  { body: { system, messages, ...others }, ignored, ignoredInRelay }: MessagesRequest,
  change: ChangeText,
): MessagesRequest {
  const edited = translated({
    ...others,
    messages: messages.map((message) => changedMessage(message, change)),
    ...present({ system: system && changedContent(system, 'system', change) }),
  });
  return { ...edited, ignored, ignoredInRelay };
}

/** Without the other fields, which can be many: each copy of them would take long. */
function translatedFields(body: MessagesBody): MessagesBody {
  const { model, messages } = body;
  const others = [...TRANSLATED].filter((name) => body[name] !== undefined);
  return { ...Object.fromEntries(others.map((name) => [name, body[name]])), model, messages };
}

/** Earlier versions of the API have the format of the answer outside of its configuration. */
function withOutputConfig({ output_format: format, ...body }: MessagesBody): MessagesBody {
  if (format === undefined || format === null) return body;
  return { ...body, output_config: { format, ...body.output_config } };
}

/** What an upstream of this API gets: what was left out would need flags there, or run tools that are not metered. */
function relayedBody(body: MessagesBody, { given }: OfferedTools): Parameters<typeof ownBody>[0] {
  const { tools: _tools, tool_choice: choice, output_config: config, ...others } = body;
  const output = Object.entries(config ?? {}).filter(([name]) => OUTPUT_FIELDS.has(name));
  return {
    ...others,
    ...(given.length === 0 ? {} : { tools: given, ...present({ tool_choice: choice }) }),
    ...(output.length === 0 ? {} : { output_config: Object.fromEntries(output) }),
  };
}

/** One message of this API can be several of a turn. */
const messagesOf = (body: MessagesBody, leftOut: LeftOut): readonly TurnMessage[] => [
  ...systemMessages(body.system),
  ...body.messages.flatMap((message, at) => turnMessages(message, `messages.${at}`, leftOut)),
];

function optionsOf(body: MessagesBody, offered: OfferedTools, ignored: Set<string>): Partial<Turn> {
  return present({
    toolChoice: toolChoiceOf(body.tool_choice, offered),
    parallelToolCalls:
      fieldOf(body.tool_choice, 'disable_parallel_tool_use') === true ? false : undefined,
    output: outputOf(body.output_config, ignored),
    reasoning: reasoningOf(body),
    maxTokens: body.max_tokens,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: body.top_k ?? undefined,
    stop: body.stop_sequences ?? undefined,
    stream: body.stream ?? undefined,
    user: userOf(body.metadata),
  });
}

/** Providers of chat completions take short ids only; a longer one, such as that of Claude Code, becomes its hash. */
function userOf(metadata: unknown): string | undefined {
  const id = textField(metadata, 'user_id');
  return id === undefined || id.length <= USER_CHARS_MAX ? id : sha256Hex(id);
}

function toolChoiceOf(choice: unknown, { tools, left }: OfferedTools): ToolChoice | undefined {
  switch (textField(choice, 'type')) {
    case 'auto':
      return 'auto';
    case 'none':
      return 'none';
    case 'any':
      if (tools.length === 0 && left.size > 0) throw demanded([...left].join(', '));
      return 'required';
    case 'tool': {
      const name = textField(choice, 'name') ?? '';
      if (left.has(name)) throw demanded(name);
      if (!tools.some((tool) => tool.name === name)) {
        throw refused(`tool_choice.name: there is no tool '${name}' in tools`);
      }
      return { name };
    }
    case undefined:
      return undefined;
    default:
      throw refused('tool_choice.type: must be auto, any, tool or none');
  }
}

const demanded = (name: string): ServiceError =>
  refused(
    `tool_choice demands the tool '${name}', which only the provider of this API defines; offer a function tool instead`,
  );

function outputOf(config: unknown, ignored: Set<string>): OutputFormat | undefined {
  if (typeof config !== 'object' || config === null) return undefined;
  for (const name of Object.keys(config)) {
    if (!OUTPUT_FIELDS.has(name)) ignored.add(`output_config.${name}`);
  }
  const format = fieldOf(config, 'format');
  if (format === undefined || format === null) return undefined;
  const schema = fieldOf(format, 'schema');
  if (
    textField(format, 'type') !== 'json_schema' ||
    typeof schema !== 'object' ||
    schema === null
  ) {
    throw refused('output_config.format: must be a json_schema with a schema');
  }
  const fields = Object.fromEntries(Object.entries(schema));
  return { type: 'json_schema', name: 'answer', schema: fields, strict: true };
}

function reasoningOf({ thinking, output_config: config }: MessagesBody) {
  const effort = textField(config, 'effort');
  // Other APIs have no word above this one.
  const word = effort === 'xhigh' || effort === 'max' ? 'high' : effort;
  const type = textField(thinking, 'type');
  const budget = numberField(thinking, 'budget_tokens');
  const budgetTokens = type === 'enabled' ? budget : undefined;
  const adaptive = type === 'adaptive' ? 'medium' : undefined;
  const reasoning: ReasoningOptions = present({ effort: word ?? adaptive, budgetTokens });
  return Object.keys(reasoning).length === 0 ? undefined : reasoning;
}

/** Servers that the provider would call: leaving them out would change what the client asked for. */
function assertNoServers(body: MessagesBody): void {
  const servers = body['mcp_servers'];
  if (Array.isArray(servers) && servers.length > 0) {
    throw refused('mcp_servers: the gateway calls no MCP servers; connect them to the client');
  }
}

/** A container has files and skills, which the model would see. */
function assertNoContainer({ container }: MessagesBody): void {
  if (container === undefined || container === null) return;
  throw refused('container: the gateway has no containers; leave it out, and send files as blocks');
}

/** A request that continues a thread has only the newest messages. Clients send the others after this error. */
function assertNoThread({ thread }: MessagesBody): void {
  if (thread === undefined || thread === null) return;
  throw new ServiceError(
    'unsupported_thread',
    'thread: the gateway keeps no conversations of this API; send all messages, without thread',
  );
}

const refused = (message: string): ServiceError => new ServiceError('invalid_request', message);
