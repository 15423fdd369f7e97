import {
  fieldsOf,
  listOf,
  present,
  textOf,
  unsigned,
  type RequestMessage,
  type Call,
  type Fields,
  type Media,
  type ModelAnswer,
} from '../facts.ts';
import type { MatrixClient } from './client.ts';

const FINISH: Readonly<Record<string, ModelAnswer['finish']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/** The Messages API. */
export const messagesClient: MatrixClient = {
  path: '/v1/messages',
  write({ system, messages, tools, toolChoice, schema, effort, maxTokens }) {
    const config = present({
      effort,
      format: schema === undefined ? undefined : { type: 'json_schema', schema },
    });
    return present({
      system,
      messages: messages.map(userMessage),
      max_tokens: maxTokens ?? 1_000,
      tools: tools?.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: parameters,
      })),
      tool_choice: toolChoice === undefined ? undefined : { type: 'tool', name: toolChoice },
      thinking: effort === undefined ? undefined : { type: 'adaptive' },
      output_config: Object.keys(config).length === 0 ? undefined : config,
    });
  },
  continued: (body, answer, results) => ({
    ...body,
    messages: [
      ...listOf(body['messages']),
      { role: 'assistant', content: answer['content'] },
      {
        role: 'user',
        content: results.map(({ id, text, isError }) =>
          present({ type: 'tool_result', tool_use_id: id, content: text, is_error: isError }),
        ),
      },
    ],
  }),
  joined: joinedEvents,
  read: readMessage,
  readError: (body) => fieldsOf(body['error']) as { type: unknown; message: unknown },
  hears({ refusal, text, calls, usage, ...said }) {
    const { thought } = said;
    return present({
      ...said,
      // A text like others; the reason of the end says that it is a refusal.
      text: refusal ?? text,
      finish: refusal === undefined ? said.finish : 'content_filter',
      thought: thought && { text: thought.text, signature: thought.signature ?? '' },
      calls: calls?.map(unsigned),
      usage: { cached: 0, ...usage },
    });
  },
};

function userMessage(message: RequestMessage): Fields {
  if (message.role !== 'user') throw new Error('only users begin a conversation');
  const { text, media } = message;
  if (media === undefined) return { role: 'user', content: text };
  return { role: 'user', content: [{ type: 'text', text }, mediaBlock(media)] };
}

function mediaBlock(media: Media): Fields {
  if ('url' in media) return { type: 'image', source: { type: 'url', url: media.url } };
  const { type, data } = media;
  if (type === 'audio') throw new Error('this API has no audio');
  const mediaType = type === 'image' ? 'image/png' : 'application/pdf';
  return { type, source: { type: 'base64', media_type: mediaType, data } };
}

function joinedEvents(events: readonly Fields[]): Fields {
  const blocks: Record<string, unknown>[] = [];
  const inputs = new Map<number, string>();
  let message: Fields = {};
  for (const event of events) {
    const at = Number(event['index']);
    if (event['type'] === 'message_start') message = fieldsOf(event['message']);
    if (event['type'] === 'content_block_start')
      blocks[at] = { ...fieldsOf(event['content_block']) };
    if (event['type'] === 'content_block_delta') addDelta(blocks[at] ?? {}, inputs, event);
    if (event['type'] === 'message_delta') {
      const usage = { ...fieldsOf(message['usage']), ...fieldsOf(event['usage']) };
      message = { ...message, ...fieldsOf(event['delta']), usage };
    }
  }
  const content = blocks.map((block, at) =>
    inputs.has(at) ? { ...block, input: JSON.parse(inputs.get(at) ?? '') as object } : block,
  );
  return { ...message, content };
}

function addDelta(
  block: Record<string, unknown>,
  inputs: Map<number, string>,
  { index, delta: given }: Fields,
): void {
  const delta = fieldsOf(given);
  const { partial_json: json } = delta;
  if (typeof json === 'string') inputs.set(Number(index), (inputs.get(Number(index)) ?? '') + json);
  for (const name of ['text', 'thinking', 'signature']) {
    if (delta[name] !== undefined) block[name] = textOf(block[name]) + textOf(delta[name]);
  }
}

function readMessage(answer: Fields): ModelAnswer {
  const content = listOf(answer['content']);
  const ofType = (type: string) => content.filter((block) => block['type'] === type);
  const [thought] = ofType('thinking');
  const calls = ofType('tool_use').map(
    ({ id, name, input }) => ({ id, name, arguments: input }) as Call,
  );
  const usage = fieldsOf(answer['usage']);
  const cached = Number(usage['cache_read_input_tokens']);
  const written = Number(usage['cache_creation_input_tokens'] ?? 0);
  return present({
    thought:
      thought === undefined
        ? undefined
        : { text: String(thought['thinking']), signature: String(thought['signature']) },
    text:
      ofType('text')
        .map(({ text }) => String(text))
        .join('') || undefined,
    calls: calls.length === 0 ? undefined : calls,
    finish: FINISH[String(answer['stop_reason'])] ?? ('' as ModelAnswer['finish']),
    usage: present({
      prompt: Number(usage['input_tokens']) + cached + written,
      completion: Number(usage['output_tokens']),
      cached,
      reasoning: fieldsOf(usage['output_tokens_details'])['thinking_tokens'] as number | undefined,
    }),
  });
}
