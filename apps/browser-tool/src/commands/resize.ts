import { z } from 'zod';
import { command, READING, runCall } from './command.ts';
import { resizeParams } from './params.ts';

export const resize = command({
  name: 'resize',
  http: { method: 'POST', path: '/resize' },
  inBatch: true,
  params: resizeParams,
  tool: {
    name: 'browser_resize',
    title: 'Resize',
    description: 'Set the viewport size',
    fields: ['width', 'height', 'deviceScaleFactor', 'mobile'],
    annotations: { ...READING, readOnlyHint: false, openWorldHint: false },
    text: (_data, { width, height }) => `Resized to ${width}x${height}`,
  },
  run: (params, context) =>
    runCall(context, 'resize', {}, async (engine, call) => ({
      viewport: await engine.resize(params, call),
    })),
});

export const viewport = command({
  name: 'viewport',
  http: { method: 'GET', path: '/viewport' },
  params: z.object({}),
  run: (_params, context) =>
    runCall(context, 'viewport', {}, async (engine) => ({
      viewport: engine.status().viewport,
    })),
});
