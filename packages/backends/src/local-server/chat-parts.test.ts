import { readFileSync } from 'node:fs';
import { completionOf } from '@model-gateway/dialects';
import { manualClock } from '@model-gateway/kernel';
import { chunksOfParts, readAll, type Chunk } from '../../tests/read-chunks.ts';
import { localAnswer, readLocalAnswer } from './chat-answer.ts';
import { localParts } from './chat-parts.ts';

const clock = manualClock(1_757_836_800_000);

function fixture(name: string): Buffer {
  return readFileSync(new URL(`fixtures/${name}`, import.meta.url));
}

/** A body that arrives in packets of so many bytes. */
async function* packets(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function chunksOf(name: string, packetBytes = 1_000): Promise<readonly Chunk[]> {
  const body = packets(fixture(name), packetBytes);
  return readAll(chunksOfParts(localParts({ status: 200, body }, null), 'asked'));
}

const choicesOf = (chunks: readonly Chunk[]): readonly unknown[] =>
  chunks.map(({ choices }) => (Array.isArray(choices) ? (choices[0] as unknown) : undefined));

describe('a recorded stream', () => {
  it.each([1, 7, 1_000])('becomes chunks, whatever its packets (%i bytes)', async (size) => {
    const chunks = await chunksOf('chat-stream.ndjson', size);
    expect(choicesOf(chunks)).toEqual([
      { index: 0, delta: { role: 'assistant', content: 'Grüße' }, finish_reason: null },
      { index: 0, delta: { content: ' aus' }, finish_reason: null },
      { index: 0, delta: { content: ' Köln' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'length' },
      undefined,
    ]);
    expect(chunks.at(-1)).toEqual({
      id: chunks[0]?.['id'],
      object: 'chat.completion.chunk',
      created: 5,
      model: 'llama3.2:latest',
      choices: [],
      usage: { prompt_tokens: 28, completion_tokens: 3, total_tokens: 31 },
    });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('returns tool calls with indexes, ids and arguments as text', async () => {
    const chunks = await chunksOf('chat-tools.ndjson');
    expect(choicesOf(chunks).slice(0, 3)).toMatchObject([
      {
        delta: {
          role: 'assistant',
          tool_calls: [
            {
              index: 0,
              id: expect.stringMatching(/^call_.{20,}/),
              type: 'function',
              function: { name: 'get_weather', arguments: '{"city":"Paris","unit":"celsius"}' },
            },
          ],
        },
      },
      {
        delta: {
          tool_calls: [
            { index: 1, id: 'call_x1k2p9qa', function: { name: 'get_time', arguments: '{}' } },
          ],
        },
      },
      { finish_reason: 'tool_calls' },
    ]);
  });

  it('separates reasoning, and counts missing numbers as zero', async () => {
    const chunks = await chunksOf('chat-thinking.ndjson');
    expect(choicesOf(chunks).slice(0, 3)).toMatchObject([
      { delta: { role: 'assistant', reasoning_content: 'Two and' } },
      { delta: { reasoning_content: ' two.' } },
      { delta: { content: '4' } },
    ]);
    expect(chunks.at(-1)).toMatchObject({
      usage: { prompt_tokens: 0, completion_tokens: 9, total_tokens: 9 },
    });
  });

  it('fails at an error line, after what came before it', async () => {
    const seen: Chunk[] = [];
    const body = packets(fixture('chat-error.ndjson'), 1_000);
    const reading = (async () => {
      const parts = localParts({ status: 200, body }, null);
      for await (const chunk of chunksOfParts(parts, 'asked')) seen.push(chunk);
    })();
    await expect(reading).rejects.toMatchObject({
      code: 'bad_gateway',
      isBackendAtFault: true,
      message: 'upstream 200: an error was encountered while running the model: unexpected EOF',
    });
    expect(choicesOf(seen)).toMatchObject([{ delta: { content: 'Once' } }]);
  });
});

it('a recorded whole answer becomes a completion', () => {
  const answer = readLocalAnswer(200, JSON.parse(fixture('chat-whole.json').toString()), null);
  expect(completionOf(localAnswer(answer, { model: 'asked', clock }))).toEqual({
    id: expect.stringMatching(/^chatcmpl-/),
    object: 'chat.completion',
    created: 1_757_836_800,
    model: 'llama3.2:latest',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'The sky looks blue because air scatters short wavelengths more than long ones.',
          refusal: null,
        },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 31, completion_tokens: 15, total_tokens: 46 },
  });
});
