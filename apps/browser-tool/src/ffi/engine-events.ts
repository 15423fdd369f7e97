import { tryParseJson } from '@model-gateway/kernel';
import { z } from 'zod';
import type { Captures } from '../capture/captures.ts';
import { CONSOLE_LEVELS, CONSOLE_SOURCES } from '../capture/console-log.ts';
import type { DialogReport } from '../engine.ts';

const headers = z.record(z.string(), z.string()).default({});

/** The events of an engine; include/browser_engine.h describes the same fields. */
const eventShape = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('console'),
    level: z.enum(CONSOLE_LEVELS).catch('info'),
    text: z.string(),
    source: z.enum(CONSOLE_SOURCES).catch('console'),
    url: z.string().default(''),
    line: z.number().nullable().default(null),
    column: z.number().nullable().default(null),
    stack: z.string().optional(),
  }),
  z.object({
    type: z.literal('network'),
    id: z.string(),
    event: z.enum(['started', 'finished', 'failed']),
    url: z.string().default(''),
    method: z.string().default('GET'),
    resource: z.string().default('other'),
    status: z.number().nullable().default(null),
    size: z.number().default(0),
    error: z.string().default('failed'),
    request_headers: headers,
    response_headers: headers,
    post_data: z.string().nullable().default(null),
  }),
  z.object({
    type: z.literal('websocket'),
    id: z.string(),
    event: z.enum(['created', 'opened', 'frame', 'closed', 'failed']),
    url: z.string().default(''),
    direction: z.enum(['sent', 'received']).default('received'),
    opcode: z.number().default(1),
    payload: z.string().default(''),
    error: z.string().default('failed'),
  }),
  z.object({
    type: z.literal('dialog'),
    kind: z.enum(['alert', 'confirm', 'prompt', 'beforeunload']),
    message: z.string().default(''),
    action: z.enum(['accepted', 'dismissed']),
  }),
  z.object({ type: z.literal('navigated'), url: z.string() }),
  z.object({ type: z.literal('crashed'), reason: z.string().default('no reason given') }),
]);

type EngineEvent = z.output<typeof eventShape>;

interface EventHandlers {
  readonly captures: Captures;
  readonly onDialog: (dialog: DialogReport) => void;
  readonly onCrash: (reason: string) => void;
}

/** Records the events of an engine; invalid events are ignored. */
export function createEventHandler({
  captures,
  onDialog,
  onCrash,
}: EventHandlers): (json: string) => void {
  const requests = new Map<string, string>();
  const sockets = new Map<string, string>();
  return (json) => {
    const parsed = eventShape.safeParse(tryParseJson(json));
    if (!parsed.success) return;
    const event = parsed.data;
    switch (event.type) {
      case 'console': {
        const { type: _type, stack, ...message } = event;
        captures.console.add({ ...message, ...(stack === undefined ? {} : { stack }) });
        return;
      }
      case 'network':
        recordRequest(event, captures, requests);
        return;
      case 'websocket':
        recordSocket(event, captures, sockets);
        return;
      case 'dialog':
        onDialog({ type: event.kind, message: event.message, action: event.action });
        return;
      case 'navigated':
        captures.navigated(event.url);
        return;
      case 'crashed':
        onCrash(event.reason);
    }
  };
}

function recordRequest(
  event: Extract<EngineEvent, { readonly type: 'network' }>,
  { network }: Captures,
  known: Map<string, string>,
): void {
  const { url, method, resource: type, request_headers, post_data } = event;
  const id =
    known.get(event.id) ??
    network.start({ url, method, type, initiator: '', request_headers, post_data });
  if (event.event === 'started') {
    known.set(event.id, id);
    return;
  }
  known.delete(event.id);
  const { status, size, response_headers } = event;
  const failed = event.event === 'failed' ? event.error : null;
  network.finish(id, { status, size, response_headers, failed });
}

function recordSocket(
  event: Extract<EngineEvent, { readonly type: 'websocket' }>,
  { webSockets }: Captures,
  known: Map<string, string>,
): void {
  const id = known.get(event.id) ?? webSockets.open(event.url);
  known.set(event.id, id);
  switch (event.event) {
    case 'created':
      return;
    case 'opened':
      webSockets.opened(id);
      return;
    case 'frame':
      webSockets.frame(id, event);
      return;
    case 'failed':
      webSockets.fail(id, event.error);
      known.delete(event.id);
      return;
    case 'closed':
      webSockets.close(id);
      known.delete(event.id);
  }
}
