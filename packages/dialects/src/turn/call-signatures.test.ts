import type { TurnAnswer } from '@model-gateway/contracts';
import { messagesDialect } from '../messages/index.ts';
import { responsesDialect } from '../responses/index.ts';
import { completeRequest } from '../responses/request.ts';
import { callSignatureOf } from './call-signatures.ts';

const answer: TurnAnswer = {
  id: 'chatcmpl-1',
  model: 'm',
  created: 1,
  parts: [
    { type: 'reasoning', text: 'I look.' },
    { type: 'tool_call', id: 'c1', name: 'look', arguments: '{}', signature: 'S1' },
    { type: 'tool_call', id: 'c2', name: 'look', arguments: '{}' },
    { type: 'tool_call', id: 'c3', name: 'look', arguments: '{}', signature: 'S3' },
  ],
  finish: 'tool_calls',
  usage: { promptTokens: 1, completionTokens: 1 },
};
const signatures = ['S1', undefined, 'S3'];
const head = { id: 'x', model: 'm', created: 1, promptTokens: () => 1 };
const user = { role: 'user', content: 'Look!' };

interface Typed {
  readonly type: string;
}
interface Reply {
  readonly content?: unknown;
  readonly reasoning_content?: unknown;
  readonly tool_calls?: readonly object[];
}
const read = (reply: Reply | undefined) => reply?.tool_calls?.map(callSignatureOf);

function streamOf(stream: ReturnType<typeof messagesDialect.writeStream>): readonly object[] {
  let text = stream.begin(head);
  answer.parts.forEach((part, index) => {
    if (part.type !== 'tool_call') text += stream.write({ type: 'reasoning', text: 'I look.' });
    else text += stream.write({ ...part, index });
  });
  text += stream.write({ type: 'finish', reason: 'tool_calls' }) + stream.end();
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as object);
}

describe('the Messages API', () => {
  const asked = { model: 'm', max_tokens: 9, thinking: { type: 'enabled', budget_tokens: 5 } };
  const replied = (content: unknown) =>
    messagesDialect.request.parse({
      ...asked,
      messages: [user, { role: 'assistant', content }, user],
    }).chat.messages[1];

  test('signatures of calls come in thoughts and go back to the calls', () => {
    const request = messagesDialect.request.parse({ ...asked, messages: [user] });
    const { content } = messagesDialect.writeAnswer(answer, request) as { content: Typed[] };
    expect(content.map(({ type }) => type)).toEqual([
      'thinking',
      'thinking',
      'tool_use',
      'tool_use',
      'thinking',
      'tool_use',
    ]);
    const reply = replied(content) as Reply;
    expect(read(reply)).toEqual(signatures);
    expect(reply.reasoning_content).toBe('I look.');
  });

  test('also in a stream', () => {
    const request = messagesDialect.request.parse({ ...asked, messages: [user] });
    const blocks: Record<string, unknown>[] = [];
    const signed: unknown[] = [];
    for (const event of streamOf(messagesDialect.writeStream(request))) {
      const { index, content_block: block, delta } = event as Record<string, object>;
      if (block !== undefined) blocks[Number(index)] = { ...block };
      if (delta !== undefined && 'signature' in delta) signed.push(blocks[Number(index)]);
      if (delta !== undefined)
        Object.assign(blocks[Number(index)] ?? {}, delta, {
          type: blocks[Number(index)]?.['type'],
        });
    }
    expect(read(replied(blocks) as Reply)).toEqual(signatures);
    // Some clients send a thought back only if it has a signature, be it an empty one.
    expect(signed).toEqual(blocks.filter(({ type }) => type === 'thinking'));
  });

  test('not for a client that did not ask for thoughts', () => {
    const { thinking: _thinking, ...plain } = asked;
    const request = messagesDialect.request.parse({ ...plain, messages: [user] });
    const calls = { ...answer, parts: answer.parts.slice(1) };
    const { content } = messagesDialect.writeAnswer(calls, request) as { content: object[] };
    expect(content).toHaveLength(3);
  });
});

describe('the Responses API', () => {
  const asked = { model: 'm', include: ['reasoning.encrypted_content'], store: false };
  const complete = (body: object) =>
    completeRequest(responsesDialect.request.parse(body), {
      id: `resp_${'0'.repeat(32)}`,
      createdAt: 1,
      isStored: false,
      previous: [],
      referenced: new Map(),
    });
  const replied = (output: unknown) => {
    const input = [user, ...(output as object[]), user];
    return complete({ ...asked, input }).chat.messages[1] as Reply;
  };

  test('signatures of calls come in reasoning items and go back to the calls', () => {
    const request = complete({ ...asked, input: 'Look!' });
    const { output } = responsesDialect.writeAnswer(answer, request) as { output: Typed[] };
    expect(output.map(({ type }) => type)).toEqual([
      'reasoning',
      'function_call',
      'function_call',
      'reasoning',
      'function_call',
    ]);
    const reply = replied(output);
    expect(read(reply)).toEqual(signatures);
    expect(reply.reasoning_content).toBe('I look.');
  });

  test('also in a stream', () => {
    const request = complete({ ...asked, input: 'Look!' });
    const last = streamOf(responsesDialect.writeStream(request)).at(-1);
    const { output } = Reflect.get(last ?? {}, 'response') as { output: unknown };
    expect(read(replied(output))).toEqual(signatures);
  });

  test('not for a client that keeps none', () => {
    const { include: _include, ...plain } = asked;
    const request = complete({ ...plain, input: 'Look!' });
    const { output } = responsesDialect.writeAnswer(answer, request) as { output: object[] };
    expect(output).toHaveLength(4);
  });

  test('a call without arguments has an empty object', () => {
    const request = complete({ ...asked, input: 'Look!' });
    const last = streamOf(responsesDialect.writeStream(request)).at(-1);
    expect(last).toMatchObject({ response: { output: { 1: { arguments: '{}' } } } });
  });
});
