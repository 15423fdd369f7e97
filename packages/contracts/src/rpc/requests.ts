import { z } from 'zod';
import { method } from './method.ts';
import { clamped, text, usageRecord } from './records.ts';
import { requestFilter } from './spend.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
const CURSOR_CHARS_MAX = 200;

export const requestsMethods = {
  'requests.list': method({
    auth: 'jwt',
    summary: 'Metered requests, newest first, a page at a time.',
    params: z.object({
      ...requestFilter,
      status: z
        .union([z.enum(['ok', 'error']), z.int().min(100).max(599)])
        .optional()
        .describe('`ok` is below 400, `error` is 400 or more; or one status'),
      limit: clamped(1, LIMIT_MAX).prefault(LIMIT_DEFAULT),
      cursor: text(CURSOR_CHARS_MAX).min(1).optional().describe('`next_cursor` of the page before'),
    }),
    result: z.object({
      requests: z.array(usageRecord),
      /** Null on the last page. */
      next_cursor: z.string().nullable(),
    }),
    isExtension: true,
  }),
  'requests.get': method({
    auth: 'jwt',
    summary: 'One metered request: your own, or for admins any.',
    params: z.object({ request_id: z.uuid() }),
    result: usageRecord,
    isExtension: true,
  }),
};
