import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';

/** An answer over HTTP, byte for byte. */
export interface ScriptedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Buffer[];
  /** The connection breaks after the last piece. */
  readonly breaks: boolean;
}

type Answering = (request: IncomingMessage) => ScriptedAnswer | undefined;
type Talking = (socket: WebSocket, request: IncomingMessage) => void;
/** Answers a call of the engine protocol; false leaves it to the usual answer. */
type Calling = (socket: WebSocket, call: EngineCall) => boolean;

export interface EngineCall {
  readonly id?: unknown;
  readonly method?: string;
}

/** One upstream: what it does is up to the case that runs. */
export interface ScriptedUpstream {
  readonly url: string;
  readonly socketUrl: string;
  /** Answers requests until the next call; without an answer it says what a healthy server says. */
  answerWith(answering: Answering | undefined): void;
  talkWith(talking: Talking | undefined): void;
  callWith(calling: Calling | undefined): void;
}

export const UPSTREAM_KINDS = [
  'external',
  'local',
  'engine',
  'video',
  'realtime',
  'anthropic',
  'gemini',
  'azure',
  'responses',
] as const;
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];

/** An upstream of every kind, each with a model `fuzz-<kind>`. */
export interface ScriptedUpstreams {
  readonly apiKey: string;
  readonly of: Readonly<Record<UpstreamKind, ScriptedUpstream>>;
  close(): Promise<void>;
}

export const modelOf = (kind: UpstreamKind): string => `fuzz-${kind}`;

export async function startScriptedUpstreams(): Promise<ScriptedUpstreams> {
  const started = await Promise.all(UPSTREAM_KINDS.map(startOne));
  const entries = started.map(({ kind, upstream }) => [kind, upstream] as const);
  return {
    apiKey: `sk-upstream-${randomBytes(24).toString('hex')}`,
    of: Object.fromEntries(entries) as Record<UpstreamKind, ScriptedUpstream>,
    async close() {
      await Promise.all(started.map(({ close }) => close()));
    },
  };
}

async function startOne(kind: UpstreamKind) {
  let answering: Answering | undefined;
  let talking: Talking | undefined;
  let calling: Calling | undefined;
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer((request, response) => {
    request.resume();
    request.on('error', () => undefined);
    request.on('end', () => {
      const script = isListing(request) ? undefined : answering?.(request);
      play(response, script, usualAnswer(request, kind));
    });
  });
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    sockets.handleUpgrade(request, stream, head, (socket) => {
      socket.on('error', () => undefined);
      if (kind === 'engine') answerEngineCalls(socket, (call) => calling?.(socket, call) ?? false);
      talking?.(socket, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream: ScriptedUpstream = {
    url: `http://127.0.0.1:${port}`,
    socketUrl: `ws://127.0.0.1:${port}`,
    answerWith: (next) => (answering = next),
    talkWith: (next) => (talking = next),
    callWith: (next) => (calling = next),
  };
  const close = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets.clients) socket.terminate();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { kind, upstream, close };
}

const isListing = ({ url = '' }: IncomingMessage): boolean =>
  /\/(models|api\/tags)(\?.*)?$/.test(url);

/** What a healthy server says. */
function usualAnswer({ url: path = '', headers }: IncomingMessage, kind: UpstreamKind): object {
  if (path.endsWith('/openid-configuration')) return provider(`http://${headers.host ?? ''}`);
  const id = modelOf(kind);
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const message = { role: 'assistant', content: 'Hello' };
  if (path.endsWith('/chat/completions')) {
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return { id: 'c', object: 'chat.completion', created: 1, model: id, choices, usage };
  }
  if (path.endsWith('/embeddings'))
    return { data: [{ object: 'embedding', index: 0, embedding: [0.5] }], model: id, usage };
  if (path.endsWith('/api/chat')) return { model: id, message, done: true, eval_count: 1 };
  if (path.endsWith('/api/embed')) return { model: id, embeddings: [[0.5]] };
  if (path.endsWith('/video_generation')) return { task_id: 't' };
  if (path.includes('/query/video_generation')) return { status: 'Fail', error: 'over' };
  return { data: [{ id }], models: [{ name: id, model: id }] };
}

/** The addresses of an identity provider. */
const provider = (issuer: string): object => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  end_session_endpoint: `${issuer}/logout`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
});

function play(response: ServerResponse, script: ScriptedAnswer | undefined, usual: object): void {
  response.on('error', () => undefined);
  if (script === undefined) {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(usual));
    return;
  }
  response.writeHead(script.status, { ...script.headers });
  void (async () => {
    for (const piece of script.pieces) {
      response.write(piece);
      if (script.pieces.length > 1) await new Promise((go) => setImmediate(go));
    }
    if (script.breaks) response.destroy();
    else response.end();
  })();
}

/** The calls that keep an engine healthy. */
function answerEngineCalls(socket: WebSocket, isHandled: (call: EngineCall) => boolean): void {
  const models = [modelOf('engine')];
  const answers: Readonly<Record<string, object>> = {
    'Engine.Handshake': {
      engine: { name: 'fuzz', version: '1' },
      capabilities: ['chat', 'embeddings', 'realtime', 'invoke'],
      modalities: ['text'],
      models,
    },
    'Engine.Models': { models },
    'Engine.Chat': { message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
    'Engine.Embeddings': { data: [[0.5]] },
    'Engine.Invoke': {},
  };
  socket.on('message', (data: Buffer) => {
    const call = JSON.parse(data.toString()) as EngineCall;
    const { id, method } = call;
    if (!/^Engine\.(Handshake|Models)$/.test(method ?? '') && isHandled(call)) return;
    const result = answers[method ?? ''];
    if (result !== undefined) socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
}
