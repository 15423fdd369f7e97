import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '@model-gateway/testkit';

/** What an upstream answered to one request. */
export interface Served {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** All of the answer was written. */
  readonly isWhole: boolean;
}

/** An upstream that keeps what it served, by the reference in the prompt. */
export interface ScriptedUpstream {
  readonly url: string;
  readonly served: ReadonlyMap<string, readonly Served[]>;
  /** Every answer begins this much later. */
  slow(ms: number): void;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

interface UpstreamOptions {
  readonly random: Random;
  /** Whether some requests fail and some answers are cut. */
  readonly isFaulty: boolean;
}

interface UpstreamRequest {
  readonly ref: string;
  readonly isStream: boolean;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export const CHAT_MODEL = 'gpt-4o-chaos';
export const EMBEDDING_MODEL = 'gpt-4o-embedding-chaos';

/** The references of probes begin with it. */
export const PROBE_PREFIX = 'probe-';

const FAILURE_SHARE = 0.02;
const CUT_SHARE = 0.02;
const TOKEN_DELAY_MS = 5;
const REF = /ref=(\S+)/;
const DIMENSIONS = 8;

/** The prompt of a request: its reference, and how many tokens it counts as. */
export const promptOf = (ref: string, tokens: number): string => `ref=${ref} prompt=${tokens}`;

export async function startScriptedUpstream({
  random,
  isFaulty,
}: UpstreamOptions): Promise<ScriptedUpstream> {
  const served = new Map<string, Served[]>();
  let delayMs = 0;
  let isCut = false;

  function note(
    { ref, promptTokens, completionTokens }: UpstreamRequest,
    { isWhole }: Pick<Served, 'isWhole'>,
  ): void {
    const answers = served.get(ref) ?? [];
    answers.push({ promptTokens, completionTokens, isWhole });
    served.set(ref, answers);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/v1/models') return sendJson(response, modelList());
    const text = await readText(request);
    const asked = readRequest(text);
    if (delayMs > 0) await sleep(delayMs);
    // Probes must not fail by chance.
    const chance = !isFaulty || asked.ref.startsWith(PROBE_PREFIX) ? 1 : random();
    if (chance < FAILURE_SHARE)
      return void response.writeHead(500).end('{"error":{"message":"scripted"}}');
    if (request.url === '/v1/embeddings') {
      note({ ...asked, completionTokens: 0 }, { isWhole: true });
      return sendJson(response, embeddingOf(asked));
    }
    const isCutShort = chance < FAILURE_SHARE + CUT_SHARE;
    if (asked.isStream) return stream(asked, response, isCutShort);
    if (isCutShort) return void response.destroy();
    note(asked, { isWhole: true });
    return sendJson(response, completionOf(asked));
  }

  async function stream(
    asked: UpstreamRequest,
    response: ServerResponse,
    isCutShort: boolean,
  ): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let index = 0; index < asked.completionTokens; index += 1) {
      if (isCutShort && index === 2) {
        note(asked, { isWhole: false });
        return void response.destroy();
      }
      response.write(chunkOf({ delta: { content: `t${index} ` }, finish_reason: null }));
      await sleep(TOKEN_DELAY_MS);
      if (response.destroyed) return note(asked, { isWhole: false });
    }
    response.write(chunkOf({ delta: {}, finish_reason: 'stop' }));
    note(asked, { isWhole: true });
    response.end(`${chunkOf(undefined, usageOf(asked))}data: [DONE]\n\n`);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  server.on('connection', (socket) => {
    if (isCut) socket.destroy();
  });
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    served,
    slow(ms) {
      delayMs = ms;
    },
    cut() {
      isCut = true;
      server.closeAllConnections();
    },
    restore() {
      isCut = false;
      delayMs = 0;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function readRequest(text: string): UpstreamRequest {
  const { stream, max_tokens = 3 } = JSON.parse(text) as { stream?: boolean; max_tokens?: number };
  return {
    ref: REF.exec(text)?.[1] ?? '',
    isStream: stream === true,
    promptTokens: Number(/prompt=(\d+)/.exec(text)?.[1] ?? 1),
    completionTokens: max_tokens,
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += String(part);
  return text;
}

const modelList = () => ({
  object: 'list',
  data: [CHAT_MODEL, EMBEDDING_MODEL].map((id) => ({ id, object: 'model' })),
});

const usageOf = ({ promptTokens, completionTokens }: UpstreamRequest) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});

const completionOf = (asked: UpstreamRequest) => ({
  id: 'chatcmpl-chaos',
  object: 'chat.completion',
  created: 1,
  model: CHAT_MODEL,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'word '.repeat(asked.completionTokens) },
      finish_reason: 'stop',
    },
  ],
  usage: usageOf(asked),
});

const embeddingOf = ({ promptTokens }: UpstreamRequest) => ({
  object: 'list',
  model: EMBEDDING_MODEL,
  data: [{ object: 'embedding', index: 0, embedding: Array<number>(DIMENSIONS).fill(0.5) }],
  usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
});

function chunkOf(choice: object | undefined, usage?: object): string {
  const chunk = {
    id: 'chatcmpl-chaos',
    object: 'chat.completion.chunk',
    created: 1,
    model: CHAT_MODEL,
    choices: choice === undefined ? [] : [{ index: 0, ...choice }],
    ...(usage === undefined ? {} : { usage }),
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
