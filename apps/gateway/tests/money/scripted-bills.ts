import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What one answer used. */
export interface ScriptedUsage {
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
  readonly completion: number;
}

/** What an upstream does with a request; one that hangs never answers. */
export type ScriptedBehavior = 'answers' | 'fails' | 'hangs';

/** What each upstream does with one request; the request carries it as the text of its message. */
export interface BillScript {
  readonly id: string;
  readonly upstreams: Readonly<Record<string, ScriptedUsage & { readonly does: ScriptedBehavior }>>;
}

/** An answer that an upstream sent, and would charge. */
export interface ScriptedCharge extends ScriptedUsage {
  readonly id: string;
  readonly model: string;
}

/** An upstream that follows the scripts of its requests and keeps what it answered. */
export interface ScriptedBiller {
  readonly url: string;
  readonly charges: readonly ScriptedCharge[];
  close(): Promise<void>;
}

export async function startScriptedBiller(
  name: string,
  models: readonly string[],
): Promise<ScriptedBiller> {
  const charges: ScriptedCharge[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    if (request.method === 'GET') {
      return sendJson(response, { data: models.map((id) => ({ id, object: 'model' })) });
    }
    void textOf(request).then((text) => {
      const { model, stream = false, messages } = JSON.parse(text) as ChatRequest;
      const { id, upstreams } = scriptIn(messages);
      const { does, ...usage } = upstreams[name] ?? { ...NOTHING, does: 'answers' };
      if (does === 'hangs') return;
      if (does === 'fails') {
        response.statusCode = 503;
        return sendJson(response, { error: { message: 'overloaded' } });
      }
      charges.push({ id, model, ...usage });
      return stream ? sendEvents(response, model, usage) : sendAnswer(response, model, usage);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    charges,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface ChatRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly content: string | readonly { readonly text: string }[] }[];
}

const NOTHING: ScriptedUsage = { prompt: 1, cached: 0, written: 0, completion: 1 };

function scriptIn(messages: ChatRequest['messages']): BillScript {
  const content = messages.at(-1)?.content ?? '';
  const text = typeof content === 'string' ? content : (content[0]?.text ?? '');
  return JSON.parse(text) as BillScript;
}

const reported = ({ prompt, cached, written, completion }: ScriptedUsage) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
});

function sendAnswer(response: ServerResponse, model: string, usage: ScriptedUsage): void {
  const message = { role: 'assistant', content: 'ok' };
  sendJson(response, {
    id: 'c',
    created: 1,
    model,
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message }],
    usage: reported(usage),
  });
}

function sendEvents(response: ServerResponse, model: string, usage: ScriptedUsage): void {
  const chunk = { id: 'c', created: 1, model, object: 'chat.completion.chunk' };
  const choices = [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }];
  const events = [
    { ...chunk, choices },
    { ...chunk, choices: [], usage: reported(usage) },
  ];
  response.setHeader('content-type', 'text/event-stream');
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
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
