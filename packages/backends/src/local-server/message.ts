import { createInnerJson, type ParseInnerJson } from '@model-gateway/kernel';
import { ServiceError } from '@model-gateway/contracts';
import { z } from 'zod';
import { ifPresent } from '../if-present.ts';
import { imageData } from './image-data.ts';

const contentPart = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({
    type: z.literal('image_url'),
    image_url: z.union([z.string(), z.looseObject({ url: z.string() })]),
  }),
]);

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
  reasoning_content: ifPresent(z.string()),
});

type Message = z.output<typeof messageSchema>;

/** The messages of a chat in the form of a local server: texts, images and tool arguments. */
export function localMessages(messages: unknown): readonly unknown[] {
  const parsed = z.array(messageSchema).safeParse(messages);
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join('.') ?? '';
    throw refused(`messages.${where} cannot be sent to a local server`);
  }
  const toolNames = new Map<string, string>();
  const parse = createInnerJson();
  return parsed.data.map((message) => {
    for (const { id, function: called } of message.tool_calls ?? []) {
      if (id !== undefined) toolNames.set(id, called.name);
    }
    return localMessage(message, toolNames, parse);
  });
}

function localMessage(
  message: Message,
  toolNames: ReadonlyMap<string, string>,
  parse: ParseInnerJson,
): unknown {
  const { role, content, images, tool_calls, tool_call_id, reasoning_content, ...rest } = message;
  const pictures = [...partImages(content), ...(images ?? []).map(imageData)];
  const toolName = tool_call_id === undefined ? undefined : toolNames.get(tool_call_id);
  return {
    ...rest,
    // The newer name of the same role.
    role: role === 'developer' ? 'system' : role,
    content: textOf(content),
    ...(pictures.length === 0 ? {} : { images: pictures }),
    ...(tool_calls === undefined
      ? {}
      : { tool_calls: tool_calls.map((call) => localToolCall(call, parse)) }),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
    ...(toolName === undefined ? {} : { tool_name: toolName }),
    ...(reasoning_content === undefined ? {} : { thinking: reasoning_content }),
  };
}

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function partImages(content: Message['content']): readonly string[] {
  if (typeof content === 'string') return [];
  return (content ?? []).flatMap((part) => {
    if (part.type === 'text') return [];
    const { image_url } = part;
    return [imageData(typeof image_url === 'string' ? image_url : image_url.url)];
  });
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
    throw refused('the arguments of a tool call are not JSON, or have too many values');
  return parsed;
}

function refused(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
