import { z } from 'zod';
import { command, READING, runCall } from './command.ts';

const SIDE_PIXELS_MAX = 10_000;
const SCALE_MAX = 10;

const side = z.int().min(1).max(SIDE_PIXELS_MAX);

export const resize = command({
  name: 'resize',
  http: { method: 'POST', path: '/resize' },
  inBatch: true,
  params: z.object({
    width: side,
    height: side,
    deviceScaleFactor: z.number().positive().max(SCALE_MAX).optional(),
    mobile: z.boolean().default(false),
  }),
  tool: {
    name: 'browser_resize',
    title: 'Resize',
    description: 'Set the viewport size',
    fields: ['width', 'height', 'deviceScaleFactor', 'mobile'],
    annotations: { ...READING, readOnlyHint: false, openWorldHint: false },
    text: (_data, { width, height }) => `Resized to ${width}x${height}`,
  },
  async run({ width, height, deviceScaleFactor, mobile }, context) {
    return runCall(context, { name: 'resize' }, async (engine, call) => {
      const request = { width, height, deviceScaleFactor, mobile };
      return { viewport: await engine.resize(request, call) };
    });
  },
});

export const viewport = command({
  name: 'viewport',
  http: { method: 'GET', path: '/viewport' },
  params: z.object({}),
  run: (_params, context) =>
    runCall(context, { name: 'viewport' }, async (engine) => ({
      viewport: engine.status().viewport,
    })),
});
