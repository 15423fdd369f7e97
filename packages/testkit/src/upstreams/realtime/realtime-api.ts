import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { createChanges } from '../recording/changes.ts';
import { createFaultPlan, faultOf, type FaultPlan } from '../faults/fault-plan.ts';
import { createRing } from '../recording/ring.ts';
import { extend } from '../wire/extend.ts';
import { isObject, parseJson, type JsonObject } from '@model-gateway/demo-model/answers';
import type { ListenOptions } from '../wire/listener.ts';
import { hasBearer, startSocketServer, type RunningSocketServer } from '../wire/web-sockets.ts';
import {
  REALTIME_OPERATIONS,
  type RealtimeFault,
  type RealtimeOperation,
} from './realtime-faults.ts';
import { createRealtimeSession, type RealtimeSession } from './realtime-session.ts';
import type { RealtimeGeneration } from './response-events.ts';

/** The options of a realtime API. */
export interface RealtimeApiOptions extends ListenOptions {
  /** The required bearer key; none by default. */
  readonly apiKey?: string;
  /** The models that it serves; all by default, and it lists `demo-realtime`. */
  readonly models?: readonly string[];
  /** Older or current event names; older by default. */
  readonly generation?: RealtimeGeneration;
  /** The pause before each delta; none by default. */
  readonly deltaDelayMs?: number;
  readonly answer?: (heard: { readonly text: string; readonly audioSecs: number }) => string;
}

/** A response of a realtime API, with the tokens that were sent. */
export interface RealtimeServed {
  readonly id: string;
  readonly model: string;
  readonly outputTokens: number;
}

/** A running realtime API. */
export interface RunningRealtimeApi extends RunningSocketServer {
  readonly faults: FaultPlan<RealtimeFault, RealtimeOperation>;
  /** The newest client events, oldest first. */
  readonly events: readonly JsonObject[];
  readonly eventCount: number;
  readonly served: readonly RealtimeServed[];
  /** Closes every session cleanly, like an upstream that ends it. */
  closeSessions(code?: number, reason?: string): void;
  /** Sends a raw frame to every session. */
  sendToAll(text: string): void;
  /** Continues to read after `stop-reading`. */
  resumeReading(): void;
}

const KEPT_EVENTS_MAX = 500;
const KEPT_BYTES_MAX = 16 * 1024 * 1024;
const NORMAL_CLOSE = 1000;
const DEMO_MODEL = 'demo-realtime';

/** Starts an API like OpenAI Realtime at `/v1/realtime?model=`. */
export async function startRealtimeApi(
  options: RealtimeApiOptions = {},
): Promise<RunningRealtimeApi> {
  const { apiKey, models, generation = 'beta', deltaDelayMs = 0, answer } = options;
  const faults = createFaultPlan<RealtimeFault, RealtimeOperation>(['response.create']);
  const changes = createChanges();
  const events = createRing<{ readonly event: JsonObject; readonly bytes: number }>({
    itemsMax: KEPT_EVENTS_MAX,
    bytesMax: KEPT_BYTES_MAX,
    bytesOf: ({ bytes }) => bytes,
  });
  const served = createRing<RealtimeServed>({ itemsMax: KEPT_EVENTS_MAX });
  const sockets = new Set<WebSocket>();

  function onSocket(socket: WebSocket, request: IncomingMessage): void {
    const controller = new AbortController();
    const model = urlOf(request).searchParams.get('model') ?? '';
    sockets.add(socket);
    socket.on('close', () => {
      controller.abort();
      sockets.delete(socket);
    });
    const session = createRealtimeSession({
      model,
      generation,
      deltaDelayMs,
      link: {
        send: (event) => socket.send(JSON.stringify(event)),
        terminate: () => socket.terminate(),
        closed: controller.signal,
      },
      ...(answer === undefined ? {} : { answer }),
      onResponse: (response) => {
        served.push({ ...response, model });
        changes.notify();
      },
    });
    void applyFaults(socket, faults.take('connect'), async () => session.open());
    socket.on('message', (data: Buffer) => {
      const event = parseJson(data.toString());
      if (!isObject(event)) return socket.close(1003, 'not JSON');
      events.push({ event, bytes: data.length });
      changes.notify();
      return void take(socket, session, event);
    });
  }

  function take(socket: WebSocket, session: RealtimeSession, event: JsonObject): Promise<void> {
    const operation = REALTIME_OPERATIONS.find((name) => name === event.type);
    const currentFaults = operation === undefined ? [] : faults.take(operation);
    return applyFaults(socket, currentFaults, () => session.handle(event, currentFaults));
  }

  function closeSessions(code = NORMAL_CLOSE, reason = ''): void {
    for (const socket of sockets) socket.close(code, reason);
  }

  /** The list of models, which every such API has. */
  function listModels(request: IncomingMessage, response: ServerResponse): void {
    const status = urlOf(request).pathname !== '/v1/models' ? 404 : isKnown(request) ? 200 : 401;
    const data = (models ?? [DEMO_MODEL]).map((id) => ({ id, object: 'model' }));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? { object: 'list', data } : { error: status }));
  }
  const isKnown = (request: IncomingMessage): boolean => hasBearer(request, apiKey);

  const server = await startSocketServer({
    ...options,
    changes,
    onRequest: listModels,
    refuse: (request) => {
      const { pathname, searchParams } = urlOf(request);
      const model = searchParams.get('model');
      if (pathname !== '/v1/realtime') return 404;
      if (!isKnown(request)) return 401;
      if (model === null || model === '') return 400;
      return models === undefined || models.includes(model) ? undefined : 404;
    },
    onSocket,
  });
  return extend(server, {
    faults,
    get events() {
      return events.toArray().map(({ event }) => event);
    },
    get eventCount() {
      return events.count;
    },
    get served() {
      return served.toArray();
    },
    closeSessions,
    sendToAll(text: string) {
      for (const socket of sockets) socket.send(text);
    },
    resumeReading() {
      for (const socket of sockets) socket.resume();
    },
  });
}

/** Applies the faults that replace a response, or continues. */
async function applyFaults(
  socket: WebSocket,
  faults: readonly RealtimeFault[],
  proceed: () => Promise<void>,
): Promise<void> {
  const slow = faultOf(faults, 'slow');
  if (slow !== undefined) await pause(slow.delayMs);
  const close = faultOf(faults, 'close');
  if (close !== undefined) return socket.close(close.code ?? NORMAL_CLOSE, close.reason ?? '');
  if (faultOf(faults, 'stop-reading') !== undefined) return socket.pause();
  if (faultOf(faults, 'silent') !== undefined) return undefined;
  if (faultOf(faults, 'garbage') !== undefined) return socket.send('{"type": "resp');
  const failure = faultOf(faults, 'error');
  if (failure !== undefined) {
    const message = failure.message ?? 'The server had an error while processing your request';
    const error = { type: 'server_error', code: null, message, param: null, event_id: null };
    return socket.send(JSON.stringify({ type: 'error', event_id: 'event_planned', error }));
  }
  return proceed();
}

const urlOf = (request: IncomingMessage): URL =>
  new URL(request.url ?? '/', 'http://upstream.invalid');
