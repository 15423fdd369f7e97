import {
  ServiceError,
  type TextPart,
  type Turn,
  type TurnMessage,
  type UserPart,
  type UpstreamTurn,
} from '@model-gateway/contracts';
import { MESSAGES_API } from '@model-gateway/dialects';
import { createInnerJson, numberOf, type ParseInnerJson } from '@model-gateway/kernel';
import { assertOneAnswer, cannotSend } from '../errors/cannot-send.ts';
import { hasDetail, leftOut } from '../left-out.ts';
import { refusesDemandedTool } from './model-rules.ts';
import { samplingOf } from './sampling.ts';
import { demandsTool, maxTokensOf, thinkingOf, type ThinkingFields } from './thinking.ts';

const NO_FIELDS: ReadonlySet<string> = new Set();
const JSON_ONLY = 'Answer with one JSON object and nothing else.';

type Fields = Readonly<Record<string, unknown>>;

interface Block extends Fields {
  readonly type: string;
}

interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly Block[];
}

/** A request of the Messages API. */
interface MessagesRequest {
  readonly body: Fields;
  /** The fields of the chat body that this API does not have. */
  readonly ignored: readonly string[];
}

/** A turn as a request of the Messages API. */
export function messagesRequest(
  asked: UpstreamTurn,
  { stream }: { readonly stream: boolean },
): MessagesRequest {
  if (asked.api === MESSAGES_API) {
    const body = { ...asked.own, model: asked.model, stream };
    return { body, ignored: [] };
  }
  const given = asked.turn;
  const isDemand = demandsTool(given) && refusesDemandedTool(given.model);
  const turn: Turn = isDemand ? { ...given, toolChoice: 'auto' } : given;
  const ignored = [...(isDemand ? ['tool_choice'] : []), ...ignoredOf(turn)];
  return { body: translated(turn, stream), ignored };
}

function ignoredOf(turn: Turn): readonly string[] {
  const thinking = thinkingOf(turn);
  const sampling = samplingOf(turn, thinking).ignored;
  const thoughts = thinking.isLeftOut ? ['reasoning_effort'] : [];
  const detail = hasDetail(turn.messages) ? ['image_url.detail'] : [];
  return [...sampling, ...thoughts, ...detail, ...leftOut(turn, NO_FIELDS)];
}

function translated(turn: Turn, stream: boolean): Fields {
  assertExpressible(turn.further ?? {});
  const thoughts = thinkingOf(turn);
  const { thinking } = thoughts;
  return {
    model: turn.model,
    max_tokens: maxTokensOf(turn),
    messages: messagesOf(turn.messages),
    ...systemField(turn),
    ...toolFields(turn),
    ...(thinking === undefined ? {} : { thinking }),
    ...outputConfig(turn, thoughts),
    ...samplingOf(turn, thoughts).fields,
    ...(turn.stop === undefined ? {} : { stop_sequences: turn.stop.filter(isNotBlank) }),
    ...(turn.user === undefined ? {} : { metadata: { user_id: turn.user } }),
    stream,
  };
}

/** One text, unless a part of it is marked for the cache. */
function systemField({ messages, output }: Turn): Fields {
  const parts: TextPart[] = messages.flatMap((message) =>
    message.role === 'system' ? [...message.parts] : [],
  );
  if (output?.type === 'json_object') parts.push({ type: 'text', text: JSON_ONLY });
  if (parts.length === 0) return {};
  return parts.some(({ cacheControl }) => cacheControl !== undefined)
    ? { system: parts.filter(isNotEmpty).map(userBlock) }
    : { system: parts.map(({ text }) => text).join('\n\n') };
}

const isNotBlank = (text: string): boolean => text.trim() !== '';

function assertExpressible(further: Fields): void {
  assertOneAnswer('anthropic', further['n']);
  if (further['logprobs'] === true) {
    throw cannotSend('anthropic', 'logprobs', 'give no probabilities');
  }
}

function outputConfig({ output }: Turn, { effort }: ThinkingFields): Fields {
  const config = {
    ...(effort === undefined ? {} : { effort }),
    ...(output?.type === 'json_schema'
      ? { format: { type: 'json_schema', schema: output.schema } }
      : {}),
  };
  return Object.keys(config).length === 0 ? {} : { output_config: config };
}

function toolFields({ tools, toolChoice, parallelToolCalls }: Turn): Fields {
  if (tools.length === 0) return {};
  const single = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  const choice = toolChoiceOf(toolChoice ?? (parallelToolCalls === false ? 'auto' : undefined));
  return {
    tools: tools.map(({ name, description, parameters, strict, cacheControl }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      input_schema: schemaOf(parameters),
      ...(strict === true ? { strict } : {}),
      ...cacheField(cacheControl),
    })),
    ...(choice === undefined
      ? {}
      : { tool_choice: choice.type === 'none' ? choice : { ...choice, ...single } }),
  };
}

/** The API requires the type, also of a function without parameters. */
const schemaOf = (parameters: Fields = { properties: {} }): Fields => ({
  ...parameters,
  type: parameters['type'] ?? 'object',
});

function toolChoiceOf(choice: Turn['toolChoice']): Block | undefined {
  if (choice === undefined) return undefined;
  if (typeof choice === 'object') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

/** Results of tools and what the user says next are one message, in which the results come first. */
function messagesOf(messages: readonly TurnMessage[]): readonly Message[] {
  const written: Message[] = [];
  const parse = createInnerJson();
  let blocks: Block[] | undefined;
  for (const message of messages) {
    if (message.role === 'system') continue;
    if (message.role === 'assistant') {
      blocks = undefined;
      const content = message.parts.flatMap((part) => replyBlocks(part, parse));
      if (content.length > 0) written.push({ role: 'assistant', content });
      continue;
    }
    if (blocks === undefined) {
      blocks = [];
      written.push({ role: 'user', content: blocks });
    }
    if (message.role === 'tool') {
      blocks.push({
        type: 'tool_result',
        tool_use_id: callId(message.callId),
        // Only the whole result can be marked for the cache.
        content: message.parts.filter(isNotEmpty).map(contentBlock),
        ...cacheField(message.parts.map(cacheControlOf).findLast((mark) => mark !== undefined)),
        ...(message.isError === true ? { is_error: true } : {}),
      });
    } else blocks.push(...message.parts.filter(isNotEmpty).map(userBlock));
  }
  return written.filter(({ content }) => content.length > 0);
}

/** The API refuses texts that are empty or only white space. */
const isNotEmpty = (part: UserPart): boolean => part.type !== 'text' || isNotBlank(part.text);

/** The API refuses ids with other characters, which other providers give to calls. */
const callId = (id: string): string => id.replaceAll(/[^\w-]/g, '_');

function replyBlocks(
  part: Extract<TurnMessage, { role: 'assistant' }>['parts'][number],
  parse: ParseInnerJson,
): Block[] {
  switch (part.type) {
    case 'text':
      return isNotEmpty(part) ? [userBlock(part)] : [];
    case 'refusal':
      return isNotBlank(part.text) ? [textBlock(part.text)] : [];
    case 'image':
      // The API takes images of the user only.
      return [];
    case 'reasoning':
      if (part.encrypted !== undefined)
        return [{ type: 'redacted_thinking', data: part.encrypted }];
      // Without its signature the API takes no thought.
      return part.signature === undefined
        ? []
        : [{ type: 'thinking', thinking: part.text, signature: part.signature }];
    case 'tool_call':
      return [
        {
          type: 'tool_use',
          id: callId(part.id),
          name: part.name,
          input: inputOf(part.arguments, parse),
        },
      ];
  }
}

function inputOf(text: string, parse: ParseInnerJson): unknown {
  const input = text.trim() === '' ? {} : parse(text);
  if (typeof input === 'object' && input !== null && numberOf(input) === undefined) return input;
  throw refused(
    'tool_calls: the arguments of a tool call are not a JSON object, or have too many values',
  );
}

const cacheField = (mark: Fields | undefined): Fields =>
  mark === undefined ? {} : { cache_control: mark };

const cacheControlOf = (part: UserPart): Fields | undefined =>
  part.type === 'audio' ? undefined : part.cacheControl;

const userBlock = (part: UserPart): Block => ({
  ...contentBlock(part),
  ...cacheField(cacheControlOf(part)),
});

function contentBlock(part: UserPart): Block {
  switch (part.type) {
    case 'text':
      return textBlock(part.text);
    case 'image':
      return { type: 'image', source: sourceOf(part.source) };
    case 'file': {
      const title = part.name === undefined ? {} : { title: part.name };
      const { source } = part;
      if (source.type === 'id')
        return { type: 'document', source: { type: 'file', file_id: source.id } };
      if (source.type === 'data' && source.mediaType.startsWith('text/')) {
        const data = Buffer.from(source.data, 'base64').toString('utf8');
        return {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data },
          ...title,
        };
      }
      return { type: 'document', source: sourceOf(source), ...title };
    }
    case 'audio':
      throw cannotSend('anthropic', 'input_audio', 'take no audio');
  }
}

const sourceOf = (source: Extract<UserPart, { type: 'image' }>['source']) =>
  source.type === 'url'
    ? { type: 'url', url: source.url }
    : { type: 'base64', media_type: source.mediaType, data: source.data };

const textBlock = (text: string): Block => ({ type: 'text', text });

const refused = (message: string): ServiceError => new ServiceError('invalid_request', message);
