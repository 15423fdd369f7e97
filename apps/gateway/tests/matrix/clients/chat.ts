import {
  fieldsOf,
  listOf,
  PDF,
  PNG,
  present,
  textOf,
  type ModelRequest,
  type RequestMessage,
  type Fields,
  type Media,
  type ModelAnswer,
} from '../facts.ts';
import type { MatrixClient } from './client.ts';

/** Chat completions. */
export const chatClient: MatrixClient = {
  path: '/v1/chat/completions',
  write: (asked) => ({
    ...chatFields(asked),
    messages: [
      ...(asked.system === undefined ? [] : [{ role: 'system', content: asked.system }]),
      ...asked.messages.map(chatMessage),
    ],
    stream_options: { include_usage: true },
  }),
  continued: (body, answer, results) => ({
    ...body,
    messages: [
      ...listOf(body['messages']),
      fieldsOf(listOf(answer['choices'])[0])['message'],
      ...results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
    ],
  }),
  joined: joinedChunks,
  read: readCompletion,
  readError: (body) => fieldsOf(body['error']) as { type: unknown; message: unknown },
  hears: (said) => said,
};

function chatFields({ tools, toolChoice, schema, effort, maxTokens }: ModelRequest): Fields {
  return present({
    tools: tools?.map((tool) => ({ type: 'function', function: tool })),
    tool_choice:
      toolChoice === undefined ? undefined : { type: 'function', function: { name: toolChoice } },
    response_format:
      schema === undefined
        ? undefined
        : { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    reasoning_effort: effort,
    max_tokens: maxTokens,
  });
}

function chatMessage(message: RequestMessage): Fields {
  if (message.role !== 'user') throw new Error('only users begin a conversation');
  const { text, media } = message;
  if (media === undefined) return { role: 'user', content: text };
  return { role: 'user', content: [{ type: 'text', text }, mediaPart(media)] };
}

function mediaPart(media: Media): Fields {
  switch (media.type) {
    case 'image':
      return {
        type: 'image_url',
        image_url: { url: 'url' in media ? media.url : `${PNG}${media.data}` },
      };
    case 'document':
      return { type: 'file', file: { filename: 'a.pdf', file_data: `${PDF}${media.data}` } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: media.data, format: 'wav' } };
  }
}

function joinedChunks(events: readonly Fields[]): Fields {
  const message: Record<string, unknown> = { role: 'assistant', content: null };
  const details: unknown[] = [];
  const calls: Record<string, unknown>[] = [];
  let finish: unknown;
  let usage: unknown;
  const append = (name: string, text: unknown): void => {
    if (typeof text !== 'string') return;
    const before = message[name];
    message[name] = (typeof before === 'string' ? before : '') + text;
  };
  for (const event of events) {
    usage = event['usage'] ?? usage;
    const choice = fieldsOf(listOf(event['choices'])[0]);
    finish = choice['finish_reason'] ?? finish;
    const delta = fieldsOf(choice['delta']);
    for (const name of ['content', 'reasoning_content', 'reasoning', 'refusal'])
      append(name, delta[name]);
    details.push(...listOf(delta['reasoning_details']));
    for (const piece of listOf(delta['tool_calls'])) addCall(calls, piece);
  }
  return {
    choices: [
      {
        message: {
          ...message,
          ...(details.length === 0 ? {} : { reasoning_details: joinedDetails(message, details) }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        finish_reason: finish,
      },
    ],
    usage,
  };
}

/** The text of a thought comes as text, and its signature after it. */
function joinedDetails(message: Fields, details: readonly unknown[]): readonly unknown[] {
  const signature = fieldsOf(details.at(-1))['signature'];
  return [{ type: 'reasoning.text', text: message['reasoning_content'], signature }];
}

function addCall(calls: Record<string, unknown>[], piece: Fields): void {
  const at = Number(piece['index']);
  const called = fieldsOf(piece['function']);
  const before = calls[at];
  if (before === undefined) {
    const { index: _index, ...call } = piece;
    calls[at] = { ...call, function: { ...called } };
    return;
  }
  const earlier = fieldsOf(before['function']);
  const written = textOf(earlier['arguments']) + textOf(called['arguments']);
  before['function'] = { ...earlier, arguments: written };
}

function readCompletion(answer: Fields): ModelAnswer {
  const choice = fieldsOf(listOf(answer['choices'])[0]);
  const message = fieldsOf(choice['message']);
  const usage = fieldsOf(answer['usage']);
  const calls = listOf(message['tool_calls']).map((call) => {
    const called = fieldsOf(call['function']);
    return present({
      id: String(call['id']),
      name: String(called['name']),
      arguments: JSON.parse(String(called['arguments'])) as object,
      signature: fieldsOf(fieldsOf(call['extra_content'])['google'])['thought_signature'] as
        | string
        | undefined,
    });
  });
  const [detail] = listOf(message['reasoning_details']);
  const thought = message['reasoning_content'] ?? message['reasoning'];
  return present({
    thought:
      typeof thought === 'string'
        ? present({ text: thought, signature: detail?.['signature'] as string | undefined })
        : undefined,
    text: textOrNone(message['content']),
    refusal: textOrNone(message['refusal']),
    calls: calls.length === 0 ? undefined : calls,
    finish: choice['finish_reason'] as ModelAnswer['finish'],
    usage: present({
      prompt: Number(usage['prompt_tokens']),
      completion: Number(usage['completion_tokens']),
      cached: fieldsOf(usage['prompt_tokens_details'])['cached_tokens'] as number | undefined,
      reasoning: fieldsOf(usage['completion_tokens_details'])['reasoning_tokens'] as
        | number
        | undefined,
    }),
  });
}

const textOrNone = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
