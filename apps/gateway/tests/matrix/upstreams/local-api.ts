import {
  fieldsOf,
  listOf,
  present,
  textOf,
  type ModelRequest,
  type RequestMessage,
  type Call,
  type Fields,
  type ModelAnswer,
} from '../facts.ts';
import { plainThought, readTool, withoutErrors } from './chat-api.ts';
import { pieces, type UpstreamApi } from './upstream.ts';

/** The kind `local-server`. */
export const localApi: UpstreamApi = {
  registration: { type: 'local-server' },
  listing: { models: [{ name: 'm' }] },
  whole: (said) => ({ ...line(messageOf(said)), ...ending(said) }),
  stream: (said) => ({
    type: 'application/x-ndjson',
    text: linesOf(said)
      .map((one) => `${JSON.stringify(one)}\n`)
      .join(''),
  }),
  read: readBody,
  error: (_status, message) => ({ error: message }),
  // The API has no choice of a tool.
  gets: ({ toolChoice: _choice, ...asked }) => withoutErrors(asked),
  says({ usage: { prompt, completion }, ...said }) {
    const finish = said.finish === 'content_filter' ? 'stop' : said.finish;
    return plainThought({ ...said, finish, usage: { prompt, completion } });
  },
};

const line = (message: Fields): Fields => ({
  model: 'm',
  created_at: '2025-09-14T08:14:02.118531Z',
  message: { role: 'assistant', content: '', ...message },
  done: false,
});

const messageOf = ({ thought, text, calls }: ModelAnswer): Fields =>
  present({
    content: text,
    thinking: thought?.text,
    tool_calls: calls?.map(localCall),
  });

const localCall = ({ id, name, arguments: given }: Call): Fields => ({
  id,
  function: { name, arguments: given },
});

const ending = ({ finish, usage }: ModelAnswer): Fields => ({
  done: true,
  done_reason: finish === 'length' ? 'length' : 'stop',
  prompt_eval_count: usage.prompt,
  eval_count: usage.completion,
});

const linesOf = (said: ModelAnswer): readonly Fields[] => [
  ...pieces(said.thought?.text ?? '').map((thinking) => line({ thinking })),
  ...pieces(said.text ?? '').map((content) => line({ content })),
  ...(said.calls ?? []).map((call) => line({ tool_calls: [localCall(call)] })),
  { ...line({}), ...ending(said) },
];

function readBody(body: Fields): ModelRequest {
  const messages = listOf(body['messages']);
  const [first] = messages;
  const system = first?.['role'] === 'system' ? String(first['content']) : undefined;
  const tools = listOf(body['tools']).map((tool) => readTool(fieldsOf(tool['function'])));
  return present({
    system,
    messages: messages.slice(system === undefined ? 0 : 1).map(readMessage),
    tools: tools.length === 0 ? undefined : tools,
    schema: body['format'] as object | undefined,
    effort: body['think'] as string | undefined,
    maxTokens: fieldsOf(body['options'])['num_predict'] as number | undefined,
  });
}

function readMessage(message: Fields): RequestMessage {
  const { role, content } = message;
  if (role === 'tool') return { role, id: String(message['tool_call_id']), text: String(content) };
  if (role === 'user') {
    const [image] = (message['images'] ?? []) as string[];
    const media = image === undefined ? undefined : ({ type: 'image', data: image } as const);
    return present({ role, text: String(content), media });
  }
  const thought = message['thinking'];
  const calls = listOf(message['tool_calls']).map(({ id, function: called }) => {
    const { name, arguments: given } = fieldsOf(called);
    return { id, name, arguments: given } as Call;
  });
  return present({
    role: 'assistant',
    thought: thought === undefined ? undefined : { text: textOf(thought) },
    text: content === '' ? undefined : String(content),
    calls: calls.length === 0 ? undefined : calls,
  });
}
