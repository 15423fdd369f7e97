import {
  fieldsOf,
  listOf,
  PDF,
  PNG,
  present,
  unsigned,
  type RequestMessage,
  type Fields,
  type Media,
  type ModelAnswer,
} from '../facts.ts';
import type { MatrixClient } from './client.ts';

/** The Responses API, with items that carry what a model thought. */
export const responsesClient: MatrixClient = {
  path: '/v1/responses',
  write: ({ system, messages, tools, toolChoice, schema, effort, maxTokens }) =>
    present({
      instructions: system,
      input: messages.map(inputItem),
      tools: tools?.map((tool) => ({ type: 'function', strict: false, ...tool })),
      tool_choice: toolChoice === undefined ? undefined : { type: 'function', name: toolChoice },
      text:
        schema === undefined
          ? undefined
          : { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
      reasoning: effort === undefined ? undefined : { effort },
      max_output_tokens: maxTokens,
      store: false,
      include: ['reasoning.encrypted_content'],
    }),
  continued: (body, answer, results) => ({
    ...body,
    input: [
      ...listOf(body['input']),
      ...listOf(answer['output']),
      ...results.map(({ id, text }) => ({
        type: 'function_call_output',
        call_id: id,
        output: text,
      })),
    ],
  }),
  joined: (events) => fieldsOf(events.at(-1)?.['response']),
  read: readResponse,
  readError: (body) => fieldsOf(body['error']) as { type: unknown; message: unknown },
  // Signatures are inside of an opaque text.
  hears: ({ thought, calls, ...said }) =>
    present({
      ...said,
      thought: thought && { text: thought.text },
      calls: calls?.map(unsigned),
      usage: { cached: 0, reasoning: 0, ...said.usage },
    }),
};

function inputItem(message: RequestMessage): Fields {
  if (message.role !== 'user') throw new Error('only users begin a conversation');
  const { text, media } = message;
  const parts = media === undefined ? [] : [mediaPart(media)];
  return { role: 'user', content: [{ type: 'input_text', text }, ...parts] };
}

function mediaPart(media: Media): Fields {
  switch (media.type) {
    case 'image':
      return {
        type: 'input_image',
        image_url: 'url' in media ? media.url : `${PNG}${media.data}`,
      };
    case 'document':
      return { type: 'input_file', filename: 'a.pdf', file_data: `${PDF}${media.data}` };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: media.data, format: 'wav' } };
  }
}

function readResponse(answer: Fields): ModelAnswer {
  const output = listOf(answer['output']);
  const ofType = (type: string) => output.filter((item) => item['type'] === type);
  const parts = ofType('message').flatMap((item) => listOf(item['content']));
  const said = (field: string) => parts.map((part) => (part[field] as string) ?? '').join('');
  const thoughts = ofType('reasoning').flatMap((item) => listOf(item['summary']));
  const calls = ofType('function_call').map((item) => ({
    id: String(item['call_id']),
    name: String(item['name']),
    arguments: JSON.parse(String(item['arguments'])) as object,
  }));
  const usage = fieldsOf(answer['usage']);
  return present({
    thought:
      thoughts.length === 0
        ? undefined
        : { text: thoughts.map(({ text }) => String(text)).join('') },
    text: said('text') || undefined,
    refusal: said('refusal') || undefined,
    calls: calls.length === 0 ? undefined : calls,
    finish: finishOf(answer, calls.length > 0),
    usage: {
      prompt: Number(usage['input_tokens']),
      completion: Number(usage['output_tokens']),
      cached: Number(fieldsOf(usage['input_tokens_details'])['cached_tokens']),
      reasoning: Number(fieldsOf(usage['output_tokens_details'])['reasoning_tokens']),
    },
  });
}

function finishOf(answer: Fields, hasCalls: boolean): ModelAnswer['finish'] {
  if (answer['status'] === 'completed') return hasCalls ? 'tool_calls' : 'stop';
  const { reason } = fieldsOf(answer['incomplete_details']);
  return reason === 'max_output_tokens' ? 'length' : (String(reason) as ModelAnswer['finish']);
}
