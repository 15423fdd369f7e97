import type {
  ChatMessage,
  ChatRequest,
  AssistantMessage,
  AssistantPart,
  FilePart,
  MediaSource,
  OutputFormat,
  ReasoningOptions,
  ToolChoice,
  Turn,
  TurnMessage,
  UserPart,
} from '@model-gateway/contracts';
import { callSignatureFields } from '../turn/call-signatures.ts';
import { present } from '../turn/fields.ts';
import { reasoningFields } from './reply-parts.ts';

/** Budgets up to these are low and medium efforts. */
const LOW_BUDGET_MAX = 4_096;
const MEDIUM_BUDGET_MAX = 16_384;

/** The turn as a chat-completions request. Messages stay in order, one for each message of the turn. */
export function chatOfTurn(turn: Turn): ChatRequest {
  const { tools, stop, further = {} } = turn;
  return {
    ...further,
    ...present({
      temperature: turn.temperature,
      top_p: turn.topP,
      top_k: turn.topK,
      max_tokens: turn.maxTokens,
      stop: stop === undefined || stop.length === 0 ? undefined : [...stop],
      stream: turn.stream,
      user: turn.user,
      tools: tools.length === 0 ? undefined : tools.map(chatTool),
      tool_choice: tools.length === 0 ? undefined : chatToolChoice(turn.toolChoice),
      parallel_tool_calls: tools.length === 0 ? undefined : turn.parallelToolCalls,
      response_format: chatFormat(turn.output),
      reasoning_effort: reasoningEffort(turn.reasoning),
    }),
    ...(turn.stream === true ? { stream_options: { include_usage: true } } : {}),
    model: turn.model,
    messages: turn.messages.map(chatMessage),
  };
}

/** One message of a turn as a chat-completions message. */
function chatMessage(message: TurnMessage): ChatMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.parts.map(({ text }) => text).join('\n\n') };
    case 'user':
      return { role: 'user', content: chatContent(message.parts) };
    case 'assistant':
      return chatReply(message);
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: chatContent(message.parts) };
  }
}

/** A message of texts alone is one text, since some upstreams take no parts. */
function chatContent(parts: readonly UserPart[]): ChatMessage['content'] {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length === parts.length) return texts.join('\n\n');
  return parts.map(chatPart);
}

function chatPart(part: UserPart) {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image': {
      const detail = part.detail === undefined ? {} : { detail: part.detail };
      return { type: 'image_url', image_url: { url: urlOf(part.source), ...detail } };
    }
    case 'file':
      return { type: 'file', file: chatFile(part) };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
  }
}

function chatFile({ source, name }: FilePart) {
  const filename = name === undefined ? {} : { filename: name };
  return source.type === 'id'
    ? { file_id: source.id, ...filename }
    : { file_data: urlOf(source), ...filename };
}

const urlOf = (source: MediaSource): string =>
  source.type === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;

function chatReply({ parts }: AssistantMessage): ChatMessage {
  const texts = textsOf(parts, 'text');
  const refusals = textsOf(parts, 'refusal');
  const reasoning = parts.flatMap((part) => (part.type === 'reasoning' ? [part] : []));
  const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    ...(refusals.length === 0 ? {} : { refusal: refusals.join('') }),
    ...reasoningFields(reasoning),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, arguments: text, signature }) => ({
            id,
            type: 'function',
            function: { name, arguments: text },
            ...callSignatureFields(signature),
          })),
        }),
  };
}

const textsOf = (parts: readonly AssistantPart[], type: 'text' | 'refusal'): readonly string[] =>
  parts.flatMap((part) => (part.type === type ? [part.text] : []));

const chatTool = ({ name, description, parameters, strict }: Turn['tools'][number]) => ({
  type: 'function',
  function: present({ name, description, parameters, strict }),
});

function chatToolChoice(choice: ToolChoice | undefined): unknown {
  return typeof choice === 'object'
    ? { type: 'function', function: { name: choice.name } }
    : choice;
}

function chatFormat(output: OutputFormat | undefined): unknown {
  if (output?.type !== 'json_schema') return output;
  const { name, schema, description, strict } = output;
  return { type: 'json_schema', json_schema: present({ name, description, schema, strict }) };
}

/** The effort, also of a budget, for what takes words. */
export function reasoningEffort(reasoning: ReasoningOptions | undefined): string | undefined {
  const { effort, budgetTokens } = reasoning ?? {};
  if (effort !== undefined || budgetTokens === undefined) return effort;
  if (budgetTokens <= LOW_BUDGET_MAX) return 'low';
  return budgetTokens <= MEDIUM_BUDGET_MAX ? 'medium' : 'high';
}
