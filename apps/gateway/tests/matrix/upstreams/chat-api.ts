import {
  fieldsOf,
  listOf,
  PDF,
  PNG,
  present,
  textOf,
  unsigned,
  withoutError,
  type ModelRequest,
  type RequestMessage,
  type RequestTool,
  type Call,
  type Fields,
  type Media,
  type ModelAnswer,
} from '../facts.ts';
import { events, pieces, type UpstreamApi } from './upstream.ts';

/** Servers of chat completions: the kinds `external`, `azure` and `agent`. */
export const chatApi: UpstreamApi = {
  registration: { type: 'external' },
  listing: { data: [{ id: 'm' }] },
  whole: (said) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: chatMessage(said), finish_reason: said.finish }],
    usage: chatUsage(said),
  }),
  stream: (said) =>
    events([...deltas(said), { ...HEAD, choices: [], usage: chatUsage(said) }, '[DONE]']),
  read: readChat,
  gets: withoutErrors,
  error: (_status, message) => ({ error: { message, type: 'invalid_request_error', code: 'why' } }),
  says: plainThought,
};

/** This API cannot say that a tool failed. */
export function withoutErrors(asked: ModelRequest): ModelRequest {
  return { ...asked, messages: asked.messages.map(withoutError) };
}

/** This API has no signatures. */
export function plainThought({ thought, calls, ...said }: ModelAnswer): ModelAnswer {
  return present({
    ...said,
    thought: thought && { text: thought.text },
    calls: calls?.map(unsigned),
  });
}

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };

export const chatMessage = ({ thought, text, refusal, calls }: ModelAnswer): Fields => ({
  role: 'assistant',
  content: text ?? null,
  ...(thought === undefined ? {} : { reasoning_content: thought.text }),
  ...(refusal === undefined ? {} : { refusal }),
  ...(calls === undefined ? {} : { tool_calls: calls.map(chatCall) }),
});

const chatCall = ({ id, name, arguments: given }: Call) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(given) },
});

export const chatUsage = ({
  usage: { prompt, completion, cached, reasoning },
}: ModelAnswer): Fields => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
  ...(reasoning === undefined
    ? {}
    : { completion_tokens_details: { reasoning_tokens: reasoning } }),
});

function deltas(said: ModelAnswer): readonly Fields[] {
  const delta = (fields: Fields, finish: string | null = null) => ({
    ...HEAD,
    choices: [{ index: 0, delta: fields, finish_reason: finish }],
  });
  const texts = (name: string, text: string | undefined) =>
    text === undefined ? [] : pieces(text).map((piece) => delta({ [name]: piece }));
  return [
    delta({ role: 'assistant', content: '' }),
    ...texts('reasoning_content', said.thought?.text),
    ...texts('content', said.text),
    ...texts('refusal', said.refusal),
    ...callPieces(said.calls ?? []).map((call) => delta({ tool_calls: [call] })),
    delta({}, said.finish),
  ];
}

/** The pieces of calls, which come in turns. */
export function callPieces(calls: readonly Call[]): readonly Fields[] {
  const heads = calls.map((call, index) => {
    const { function: called, ...head } = chatCall(call);
    return { index, ...head, function: { ...called, arguments: '' } };
  });
  const [first = [], second = []] = [0, 1].map((half) =>
    calls.map((call, index) => ({
      index,
      function: { arguments: pieces(JSON.stringify(call.arguments))[half] },
    })),
  );
  return [...heads, ...first, ...second];
}

/** Reads a chat body. */
export function readChat(body: Fields): ModelRequest {
  const messages = listOf(body['messages']);
  const [first] = messages;
  const system = first?.['role'] === 'system' ? String(first['content']) : undefined;
  const format = fieldsOf(fieldsOf(body['response_format'])['json_schema']);
  const tools = listOf(body['tools']).map(({ function: tool }) => readTool(fieldsOf(tool)));
  const choice = fieldsOf(fieldsOf(body['tool_choice'])['function'])['name'];
  return present({
    system,
    messages: messages.slice(system === undefined ? 0 : 1).map(readMessage),
    tools: tools.length === 0 ? undefined : tools,
    toolChoice: choice as string | undefined,
    schema: format['schema'] as object | undefined,
    effort: body['reasoning_effort'] as string | undefined,
    maxTokens: body['max_tokens'] as number | undefined,
  });
}

export const readTool = ({ name, description, parameters }: Fields): RequestTool =>
  ({ name, description, parameters }) as RequestTool;

function readMessage(message: Fields): RequestMessage {
  const { role, content } = message;
  if (role === 'tool') return { role, id: String(message['tool_call_id']), text: String(content) };
  if (role === 'assistant') {
    const thought = message['reasoning_content'];
    const calls = listOf(message['tool_calls']).map((call) => {
      const called = fieldsOf(call['function']);
      const given = JSON.parse(String(called['arguments'])) as object;
      return { id: String(call['id']), name: String(called['name']), arguments: given };
    });
    return present({
      role,
      thought: thought === undefined ? undefined : { text: textOf(thought) },
      text: typeof content === 'string' && content !== '' ? content : undefined,
      calls: calls.length === 0 ? undefined : calls,
    });
  }
  if (typeof content === 'string') return { role: 'user', text: content };
  const [text, media] = listOf(content);
  return { role: 'user', text: String(text?.['text']), media: readMedia(fieldsOf(media)) };
}

function readMedia(part: Fields): Media {
  if (part['type'] === 'input_audio') {
    return { type: 'audio', data: String(fieldsOf(part['input_audio'])['data']) };
  }
  if (part['type'] === 'file') {
    const data = String(fieldsOf(part['file'])['file_data']);
    return { type: 'document', data: data.replace(PDF, '') };
  }
  const url = String(fieldsOf(part['image_url'])['url']);
  return url.startsWith(PNG)
    ? { type: 'image', data: url.slice(PNG.length) }
    : { type: 'image', url };
}
