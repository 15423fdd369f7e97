import { z } from 'zod';
import { ToolError } from '../errors.ts';
import { command } from './command.ts';

const LIMIT_DEFAULT = 200;
const LIMIT_MAX = 500;

export const webSockets = command({
  name: 'websocket',
  http: { method: 'GET', path: '/websocket' },
  params: z.object({}),
  async run(_params, { captures }) {
    const connections = captures.webSockets.connections();
    const active = connections.filter(({ state }) => state === 'connecting' || state === 'open');
    return { active_count: active.length, connections };
  },
});

export const webSocketFrames = command({
  name: 'websocket-frames',
  http: { method: 'GET', path: '/websocket/:id' },
  params: z.object({
    id: z.string(),
    since: z.int().min(0).optional(),
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
  }),
  async run({ id, since, limit }, { captures }) {
    const page = captures.webSockets.frames(id, since, limit);
    if (page !== undefined) return { ...page };
    throw new ToolError('NOT_FOUND', `WebSocket ${id} is not stored.`, {
      hint: 'GET /websocket lists the stored connections.',
      details: { id },
    });
  },
});

export const clearWebSockets = command({
  name: 'clear-websocket',
  http: { method: 'DELETE', path: '/websocket' },
  params: z.object({}),
  run: async (_params, { captures }) => ({ cleared: captures.webSockets.clear() }),
});
