import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Body = Readonly<Record<string, unknown>>;

/** What the upstream does next. */
interface Script {
  readonly status?: number;
  /** How many events of the stream are sent before it stalls; all, unless given. */
  readonly events?: number;
  /** Of the whole response. */
  readonly fields?: Body;
  /** With which a response or a stream fails before the model has done anything. */
  readonly error?: Body;
}

/** An upstream that speaks the Responses API and runs a hosted search. It serves the model `m`. */
export interface ResponsesUpstream {
  readonly url: string;
  /** The bodies that it was sent. */
  readonly bodies: Body[];
  /** For the next request only. */
  next(script: Script): void;
  /** Resolves when a client has left before the end. */
  readonly left: Promise<void>;
  close(): Promise<void>;
}

export const ANSWER = 'Cats purr.';

const OUTPUT = [
  { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search' } },
  { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAA' },
  {
    id: 'msg_1',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: ANSWER, annotations: [], logprobs: [] }],
  },
];

const responseOf = (body: Body, fields: Body = {}): Body => ({
  id: 'resp_upstream',
  object: 'response',
  created_at: 1_750_000_000,
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'm-2026',
  output: OUTPUT,
  tools: body['tools'] ?? [],
  tool_choice: body['tool_choice'] ?? 'auto',
  store: false,
  usage: {
    input_tokens: 90,
    input_tokens_details: { cached_tokens: 30 },
    output_tokens: 40,
    output_tokens_details: { reasoning_tokens: 20 },
    total_tokens: 130,
  },
  ...fields,
});

/** The events of a stream as the API sends them. */
export function eventsOf(body: Body, fields: Body = {}): readonly Body[] {
  const response = responseOf(body, fields);
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const place = { item_id: 'msg_1', output_index: 2, content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
  return [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: OUTPUT[0] },
    { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
    { type: 'response.output_item.done', output_index: 0, item: OUTPUT[0] },
    { type: 'response.output_item.added', output_index: 1, item: OUTPUT[1] },
    { type: 'response.output_item.done', output_index: 1, item: OUTPUT[1] },
    { type: 'response.output_item.added', output_index: 2, item: { ...OUTPUT[2], content: [] } },
    { type: 'response.content_part.added', ...place, part },
    { type: 'response.output_text.delta', ...place, delta: ANSWER, logprobs: [] },
    { type: 'response.output_text.done', ...place, text: ANSWER, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: { ...part, text: ANSWER } },
    { type: 'response.output_item.done', output_index: 2, item: OUTPUT[2] },
    { type: 'response.completed', response },
  ].map((event, sequence) => ({ ...event, sequence_number: sequence }));
}

/** The events of a stream that fails at once. */
function failedEvents(body: Body, error: Body): readonly Body[] {
  const [created = {}] = eventsOf(body);
  const response = responseOf(body, { status: 'failed', error, output: [], usage: null });
  return [created, { type: 'response.failed', response, sequence_number: 1 }];
}

export async function startResponsesUpstream(): Promise<ResponsesUpstream> {
  const bodies: Body[] = [];
  let script: Script = {};
  let onLeft = (): void => undefined;
  const left = new Promise<void>((resolve) => (onLeft = resolve));
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.url === '/v1/models') return sendJson(response, 200, { data: [{ id: 'm' }] });
      if (request.url !== '/v1/responses') return sendJson(response, 404, {});
      const body = JSON.parse(Buffer.concat(parts).toString()) as Body;
      bodies.push(body);
      response.on('close', () => {
        if (!response.writableFinished) onLeft();
      });
      respond(response, body, script);
      script = {};
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    next: (given) => (script = given),
    left,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function respond(response: ServerResponse, body: Body, script: Script): void {
  const { status = 200, error, events } = script;
  const fields = error === undefined ? script.fields : { status: 'failed', error };
  if (status !== 200) {
    return sendJson(response, status, { error: { message: 'no', type: 't', code: 'c' } });
  }
  if (body['stream'] !== true) return sendJson(response, 200, responseOf(body, fields));
  response.setHeader('content-type', 'text/event-stream');
  const all = error === undefined ? eventsOf(body, fields) : failedEvents(body, error);
  for (const event of all.slice(0, events)) {
    response.write(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  if (events === undefined) response.end();
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}
