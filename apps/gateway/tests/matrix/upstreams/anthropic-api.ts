import {
  fieldsOf,
  listOf,
  present,
  unsigned,
  type ModelRequest,
  type RequestMessage,
  type Call,
  type Fields,
  type Media,
  type ModelAnswer,
} from '../facts.ts';
import { pieces, type UpstreamApi } from './upstream.ts';

const STOP_REASONS: Readonly<Record<ModelAnswer['finish'], string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/** The kind `anthropic`. */
export const anthropicApi: UpstreamApi = {
  registration: { type: 'anthropic' },
  listing: { data: [{ id: 'm', type: 'model' }], has_more: false },
  whole: (said) => ({
    ...HEAD,
    content: blocksOf(said),
    stop_reason: STOP_REASONS[said.finish],
    stop_sequence: null,
    usage: usageOf(said),
  }),
  stream: (said) => ({ type: 'text/event-stream', text: eventsOf(said).map(eventText).join('') }),
  read: readBody,
  error: (_status, message) => ({ type: 'error', error: { type: 'some_error', message } }),
  says: ({ calls, usage, ...said }) =>
    present({
      ...said,
      calls: calls?.map(unsigned),
      usage: { cached: 0, ...usage },
    }),
};

const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };

const blocksOf = ({ thought, text, calls = [] }: ModelAnswer): readonly Fields[] => [
  ...(thought === undefined
    ? []
    : [{ type: 'thinking', thinking: thought.text, signature: thought.signature ?? '' }]),
  ...(text === undefined ? [] : [{ type: 'text', text }]),
  ...calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
];

const usageOf = ({ usage: { prompt, completion, cached = 0, reasoning } }: ModelAnswer): Fields =>
  present({
    input_tokens: prompt - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    output_tokens_details: reasoning === undefined ? undefined : { thinking_tokens: reasoning },
  });

function eventsOf(said: ModelAnswer): readonly Fields[] {
  const { output_tokens: _output, output_tokens_details: details, ...prompt } = usageOf(said);
  const blocks = blocksOf(said).flatMap((block, index) => {
    const { begun, deltas } = streamed(block);
    return [
      { type: 'content_block_start', index, content_block: begun },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
  });
  const usage = { ...prompt, output_tokens: 1 };
  return [
    { type: 'message_start', message: { ...HEAD, content: [], stop_reason: null, usage } },
    { type: 'ping' },
    ...blocks,
    {
      type: 'message_delta',
      delta: { stop_reason: STOP_REASONS[said.finish], stop_sequence: null },
      usage: present({ output_tokens: said.usage.completion, output_tokens_details: details }),
    },
    { type: 'message_stop' },
  ];
}

function streamed(block: Fields): { readonly begun: Fields; readonly deltas: readonly Fields[] } {
  const textDeltas = (name: string, type: string, text: unknown) =>
    pieces(String(text)).map((piece) => ({ type, [name]: piece }));
  switch (block['type']) {
    case 'thinking':
      return {
        begun: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...textDeltas('thinking', 'thinking_delta', block['thinking']),
          { type: 'signature_delta', signature: block['signature'] },
        ],
      };
    case 'text':
      return {
        begun: { type: 'text', text: '' },
        deltas: textDeltas('text', 'text_delta', block['text']),
      };
    default:
      return {
        begun: { ...block, input: {} },
        deltas: textDeltas('partial_json', 'input_json_delta', JSON.stringify(block['input'])),
      };
  }
}

const eventText = (event: Fields): string =>
  `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;

function readBody(body: Fields): ModelRequest {
  const tools = listOf(body['tools']).map(({ name, description, input_schema: parameters }) => ({
    name: String(name),
    description: String(description),
    parameters: parameters as object,
  }));
  const config = fieldsOf(body['output_config']);
  const { system } = body;
  return present({
    system: Array.isArray(system) ? String(fieldsOf(system[0])['text']) : (system as string),
    messages: listOf(body['messages']).flatMap(readMessage),
    tools: tools.length === 0 ? undefined : tools,
    toolChoice: fieldsOf(body['tool_choice'])['name'] as string | undefined,
    schema: fieldsOf(config['format'])['schema'] as object | undefined,
    effort: config['effort'] as string | undefined,
    maxTokens: body['max_tokens'] as number,
  });
}

function readMessage({ role, content }: Fields): readonly RequestMessage[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
  const ofType = (type: string) => blocks.filter((block) => fieldsOf(block)['type'] === type);
  const texts = ofType('text').map((block) => String(fieldsOf(block)['text']));
  if (role === 'assistant') {
    const [thought] = ofType('thinking').map(fieldsOf);
    const calls = ofType('tool_use')
      .map(fieldsOf)
      .map(({ id, name, input }) => ({ id, name, arguments: input }) as Call);
    return [
      present({
        role,
        thought:
          thought === undefined
            ? undefined
            : { text: String(thought['thinking']), signature: String(thought['signature']) },
        text: texts.length === 0 ? undefined : texts.join(''),
        calls: calls.length === 0 ? undefined : calls,
      }),
    ];
  }
  const results = ofType('tool_result').map(fieldsOf).map(readResult);
  if (results.length > 0) return results;
  const media = blocks.map(fieldsOf).find((block) => block['type'] !== 'text');
  return [present({ role: 'user', text: texts.join(''), media: media && readMedia(media) })];
}

function readResult({ tool_use_id: id, content, is_error: isError }: Fields): RequestMessage {
  const text =
    typeof content === 'string'
      ? content
      : listOf(content)
          .map((part) => part['text'])
          .join('');
  return present({
    role: 'tool' as const,
    id: String(id),
    text,
    isError: isError as boolean | undefined,
  });
}

function readMedia({ type, source: given }: Fields): Media {
  const source = fieldsOf(given);
  if (source['type'] === 'url') return { type: 'image', url: String(source['url']) };
  const isImage = type === 'image' && source['media_type'] === 'image/png';
  return { type: isImage ? 'image' : 'document', data: String(source['data']) };
}
