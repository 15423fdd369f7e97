import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { UsageEvent } from '@model-gateway/contracts';
import { usageEventsIn, waitUntil } from '@model-gateway/testkit';
import { deployOn, startScene, type Scene } from './scene.ts';
import { connectAgent } from './simulated-agent.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene.close());

const PROMPT = 'x'.repeat(40);
const REPLY = 'y'.repeat(80);
const CAPABILITIES = ['chat', 'embeddings', 'images', 'transcription'];
/** By the size of a file. */
const AUDIO_BYTES_PER_SECOND = 16_000;
/** One token for each four characters. */
const ESTIMATE = { prompt_tokens: 10, completion_tokens: 20 };

/** What a model says that it has made of images and audio. */
interface ReportedUnits {
  readonly images: number;
  readonly seconds: number;
}

/** A model that reports the same usage, whatever the texts are. */
async function startModel(
  prompt_tokens: number,
  completion_tokens: number,
  { images, seconds }: ReportedUnits = { images: 1, seconds: 1 },
) {
  const usage = { prompt_tokens, completion_tokens, total_tokens: 1 };
  const message = { role: 'assistant', content: REPLY };
  const event = (chunk: object): string => `data: ${JSON.stringify({ id: 'c', ...chunk })}\n\n`;
  const stream =
    event({ choices: [{ index: 0, delta: message, finish_reason: 'stop' }] }) +
    event({ choices: [], usage });
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void text(request).then((body) => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/v1/models')
        return response.end(JSON.stringify({ data: [{ id: 'm' }] }));
      if (request.url === '/v1/embeddings')
        return response.end(JSON.stringify({ data: [{ index: 0, embedding: [1] }], usage }));
      if (request.url === '/v1/images/generations') {
        const data = Array.from({ length: images }, () => ({ url: 'https://example.com/i.png' }));
        return response.end(JSON.stringify({ data, usage }));
      }
      if (request.url === '/v1/audio/transcriptions')
        return response.end(JSON.stringify({ text: REPLY, duration: seconds, usage }));
      if (!body.includes('"stream":true')) {
        const choices = [{ index: 0, message, finish_reason: 'stop' }];
        return response.end(JSON.stringify({ id: 'c', choices, usage }));
      }
      response.setHeader('content-type', 'text/event-stream');
      return response.end(`${stream}data: [DONE]\n\n`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { agent_id, token } = await scene.register('node');
  const agent = await connectAgent(scene.tunnelUrl, token);
  await deployOn(scene, { agent, agent_id }, port, ['m'], { capabilities: CAPABILITIES });
  return {
    async close() {
      await scene.call('agents.deregister', { agent_id });
      server.close();
    },
  };
}

/** The usage of one request of each kind. */
async function usageOfAll() {
  const messages = [{ role: 'user', content: PROMPT }];
  await waitUntil(async () => (await scene.chat('m', { messages })).status === 200);
  await (await scene.chat('m', { messages, stream: true })).text();
  const embedded = await fetch(`${scene.gatewayUrl}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.key}` },
    body: JSON.stringify({ model: 'm', input: PROMPT }),
  });
  expect(embedded.status).toBe(200);
  const { stream_id } = await scene.call<{ stream_id: string }>('chat.send', {
    model: 'm',
    messages,
  });
  const ended = await fetch(`${scene.rpcUrl}/api/rpc/events?session=${stream_id}`);
  const reader = ended.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let seen = ''; !seen.includes('"is_complete":true');)
    seen += (await reader?.read())?.value ?? '';
  await reader?.cancel();
  const events = await recordedUsage(4);
  return events.map(({ prompt_tokens, completion_tokens }) => [prompt_tokens, completion_tokens]);
}

const taken = new Set<string>();

/** Takes this many usage events from the journal. */
async function recordedUsage(count: number) {
  const events: UsageEvent[] = [];
  const enough = new AbortController();
  await scene.test.context.bus.journal.drain(
    async (batch) => {
      // An event whose receipt could not be confirmed in time comes again.
      for (const event of usageEventsIn(batch)) {
        if (!taken.has(event.id)) events.push(event);
        taken.add(event.id);
      }
      if (events.length >= count) enough.abort();
    },
    { batchSize: 10, signal: enough.signal },
  );
  return events;
}

test('a node that reports more than its texts can be is billed for four times their estimate', async () => {
  const model = await startModel(1_000_000, 2_000_000);
  const { prompt_tokens, completion_tokens } = ESTIMATE;
  const bounded = [4 * prompt_tokens, 4 * completion_tokens];
  expect(await usageOfAll()).toEqual([bounded, bounded, [4 * prompt_tokens, 0], bounded]);
  await model.close();
});

test('what a node reports within that is billed as it is', async () => {
  const model = await startModel(40, 79);
  expect(await usageOfAll()).toEqual([
    [40, 79],
    [40, 79],
    [40, 0],
    [40, 79],
  ]);
  await model.close();
});

/** The images and the seconds of audio that are billed for two images and a file of ten seconds. */
async function unitsOfBoth() {
  const headers = { authorization: `Bearer ${scene.key}` };
  const url = `${scene.gatewayUrl}/v1`;
  await waitUntil(async () => {
    const body = JSON.stringify({ model: 'm', prompt: PROMPT, n: 2 });
    return (await fetch(`${url}/images/generations`, { method: 'POST', headers, body })).ok;
  });
  const form = new FormData();
  form.set('model', 'm');
  form.set('file', new Blob([Buffer.alloc(10 * AUDIO_BYTES_PER_SECOND)]), 'a.mp3');
  const spoken = await fetch(`${url}/audio/transcriptions`, {
    method: 'POST',
    headers,
    body: form,
  });
  expect(await spoken.json()).toMatchObject({ text: REPLY });
  const [drawn, heard] = await recordedUsage(2);
  return { images: drawn?.images, seconds: Math.round(heard?.audio_seconds ?? 0) };
}

test('a node that reports more images or audio than can be is billed for what can be', async () => {
  const model = await startModel(1, 1, { images: 500, seconds: 1e9 });
  expect(await unitsOfBoth()).toEqual({ images: 2, seconds: 40 });
  await model.close();
});

test('images and audio that a node reports within that are billed as they are', async () => {
  const model = await startModel(1, 1, { images: 1, seconds: 39 });
  expect(await unitsOfBoth()).toEqual({ images: 1, seconds: 39 });
  await model.close();
});
