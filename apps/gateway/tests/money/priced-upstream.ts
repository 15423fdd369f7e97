import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What one answer used: the truth that bills are compared with. */
export interface PricedUsage {
  readonly prompt: number;
  readonly completion: number;
  /** The part of it that is reported beside the completion, as xAI reports thoughts. */
  readonly beside?: number;
  /** The parts of prompt and completion that are audio. */
  readonly heard?: number;
  readonly spoken?: number;
  readonly cached: number;
  readonly written: number;
  readonly images?: number;
  readonly seconds?: number;
}

/** One served request. */
export interface PricedCall extends PricedUsage {
  readonly model: string;
}

/** An upstream whose usage the requests themselves choose, in the field `user`. */
export interface PricedUpstream {
  readonly url: string;
  /** What it answered. */
  readonly served: readonly PricedCall[];
  /** How many of the next requests fail. */
  failNext(count: number): void;
  close(): Promise<void>;
}

export async function startPricedUpstream(models: readonly string[]): Promise<PricedUpstream> {
  const served: PricedCall[] = [];
  let failures = 0;
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void textOf(request).then((text) => {
      if (request.method === 'GET') {
        return sendJson(response, { data: models.map((id) => ({ id, object: 'model' })) });
      }
      if (failures > 0) {
        failures -= 1;
        response.statusCode = 503;
        return sendJson(response, { error: { message: 'overloaded' } });
      }
      return answer(request.url ?? '', readRequest(text), response, served);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    served,
    failNext: (count) => void (failures = count),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface ReadRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly usage: PricedUsage;
}

/** A form has its fields as text between the boundaries. */
function readRequest(text: string): ReadRequest {
  const field = (name: string): string =>
    new RegExp(`name="${name}"\\r\\n\\r\\n([^\\r]*)`).exec(text)?.[1] ?? '';
  const body = text.startsWith('{')
    ? (JSON.parse(text) as { model: string; user: string; stream?: boolean })
    : { model: field('model'), user: field('prompt'), stream: false };
  return {
    model: body.model,
    stream: body.stream ?? false,
    usage: JSON.parse(body.user) as PricedUsage,
  };
}

function answer(
  path: string,
  { model, stream, usage }: ReadRequest,
  response: ServerResponse,
  served: PricedCall[],
): void {
  served.push({ model, ...usage });
  if (path.endsWith('/images/generations')) {
    const data = Array.from({ length: usage.images ?? 0 }, () => ({ b64_json: 'aW1hZ2U=' }));
    return sendJson(response, { created: 1, data });
  }
  if (path.endsWith('/audio/transcriptions')) {
    return sendJson(response, { text: 'hi', usage: { type: 'duration', seconds: usage.seconds } });
  }
  const { beside = 0, heard = 0, spoken = 0 } = usage;
  const reported = {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion - beside,
    total_tokens: usage.prompt + usage.completion,
    prompt_tokens_details: {
      cached_tokens: usage.cached,
      cache_write_tokens: usage.written,
      audio_tokens: heard,
    },
    completion_tokens_details: { reasoning_tokens: beside, audio_tokens: spoken },
  };
  const head = { id: 'c', created: 1, model };
  if (!stream) {
    const message = { role: 'assistant', content: 'ok' };
    const choices = [{ index: 0, finish_reason: 'stop', message }];
    return sendJson(response, { ...head, object: 'chat.completion', choices, usage: reported });
  }
  response.setHeader('content-type', 'text/event-stream');
  const chunk = { ...head, object: 'chat.completion.chunk' };
  const delta = { index: 0, delta: { content: 'ok' }, finish_reason: 'stop' };
  for (const event of [
    { ...chunk, choices: [delta] },
    { ...chunk, choices: [], usage: reported },
  ]) {
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

function sendJson(response: ServerResponse, body: object): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
