import { createInnerJson, type ParseInnerJson } from '@model-gateway/kernel';
import { ServiceError } from '@model-gateway/contracts';
import { z } from 'zod';
import { cannotSend } from '../errors/cannot-send.ts';
import { ifPresent } from '../if-present.ts';
import { imageData } from './image-data.ts';

const contentPart = z.looseObject({
  type: z.string(),
  text: ifPresent(z.string()),
  image_url: ifPresent(z.union([z.string(), z.looseObject({ url: z.string() })])),
});

const toolCallSchema = z.looseObject({
  id: z.string().optional(),
  function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});

const messageSchema = z.looseObject({
  role: z.string(),
  content: ifPresent(z.union([z.string(), z.array(contentPart)])),
  images: ifPresent(z.array(z.unknown())),
  tool_calls: ifPresent(z.array(toolCallSchema)),
  tool_call_id: ifPresent(z.string()),
  name: ifPresent(z.string()),
  function_call: ifPresent(toolCallSchema.shape.function),
  reasoning_content: ifPresent(z.string()),
});

type Message = z.output<typeof messageSchema>;
type Part = Partial<z.output<typeof contentPart>> & { readonly type: string };

interface Context {
  /** The functions by the ids of their calls. */
  readonly toolNames: ReadonlyMap<string, string>;
  readonly parse: ParseInnerJson;
}

/** The messages of a chat in the form of a local server: texts, images and tool arguments. */
export function localMessages(messages: unknown): readonly unknown[] {
  const parsed = z.array(messageSchema).safeParse(messages);
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join('.') ?? '';
    throw cannotSend('local-server', `messages.${where}`, 'do not take what is there');
  }
  const toolNames = new Map<string, string>();
  const parse = createInnerJson();
  return parsed.data.map((message, at) => {
    for (const { id, function: called } of message.tool_calls ?? []) {
      if (id !== undefined) toolNames.set(id, called.name);
    }
    return localMessage(message, `messages.${at}`, { toolNames, parse });
  });
}

function localMessage(message: Message, where: string, { toolNames, parse }: Context): unknown {
  const { role, content, images, tool_call_id, function_call, reasoning_content, ...rest } =
    message;
  // `function_call` and the role `function` are the older form of calls and their results.
  const isOlderResult = role === 'function';
  const tool_calls =
    message.tool_calls ?? (function_call === undefined ? undefined : [{ function: function_call }]);
  const parts: readonly Part[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const pictures = [
    ...parts.flatMap((part, at) => partImages(part, `${where}.content.${at}`)),
    ...(images ?? []).map((image, at) => imageData(image, `${where}.images.${at}`)),
  ];
  const toolName = isOlderResult
    ? message.name
    : tool_call_id === undefined
      ? undefined
      : toolNames.get(tool_call_id);
  return {
    ...rest,
    // The newer name of the same role.
    role: role === 'developer' ? 'system' : isOlderResult ? 'tool' : role,
    content: parts.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n'),
    ...(pictures.length === 0 ? {} : { images: pictures }),
    ...(tool_calls === undefined
      ? {}
      : { tool_calls: tool_calls.map((call) => localToolCall(call, parse)) }),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
    ...(toolName === undefined ? {} : { tool_name: toolName }),
    ...(reasoning_content === undefined ? {} : { thinking: reasoning_content }),
  };
}

function partImages({ type, text, image_url }: Part, where: string): readonly string[] {
  if (type === 'text' && text !== undefined) return [];
  if (type === 'image_url' && image_url !== undefined) {
    return [imageData(typeof image_url === 'string' ? image_url : image_url.url, where)];
  }
  throw cannotSend('local-server', where, `take texts and images, not a part of type '${type}'`);
}

/** Arguments are an object; the chat-completions convention has a text. */
function localToolCall(
  { id, function: called }: z.output<typeof toolCallSchema>,
  parse: ParseInnerJson,
): unknown {
  return {
    ...(id === undefined ? {} : { id }),
    function: { name: called.name, arguments: argumentsOf(called.arguments, parse) },
  };
}

function argumentsOf(value: unknown, parse: ParseInnerJson): unknown {
  if (typeof value !== 'string') return value ?? {};
  if (value.trim() === '') return {};
  const parsed = parse(value);
  if (parsed === undefined)
    throw refused('tool_calls: the arguments of a tool call are not JSON, or have too many values');
  return parsed;
}

function refused(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
