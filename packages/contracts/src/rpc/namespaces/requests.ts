import { z } from 'zod';
import { method } from '../method.ts';
import { requestAttempt } from '../../request-attempt.ts';
import { clamped, record, text, timestamp, usageRecord } from './records.ts';
import { requestFilter, requestScope } from './spend.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
const CURSOR_CHARS_MAX = 200;
const REQUEST_ID_CHARS_MAX = 128;

const scope = requestScope
  .optional()
  .describe(
    'without it all requests for platform admins, and your own for others; `group` with `group_id` for the admins of a group',
  );

/** A request, metered or failed. */
const requestRecord = record('Request', {
  ...usageRecord.shape,
  /** Null for a failed request whose model could not be read. */
  model: z.string().nullable(),
  /** The id that the client gave the request, or else the id that its response had, which is `id`. */
  request_id: z.string(),
  /** Null for a request that was answered. */
  error_code: z.string().nullable(),
  error: z.string().nullable(),
  /** The backends that were tried, and what became of it; empty for requests whose attempts are deleted. */
  attempts: z.array(requestAttempt),
  /** How many failed requests that are alike the row stands for. */
  repeats: z.int(),
});

export const requestsMethods = {
  'requests.list': method({
    auth: 'jwt',
    summary: 'Requests, metered and failed ones, newest first, a page at a time.',
    params: z.object({
      scope,
      ...requestFilter,
      status: z
        .union([z.enum(['ok', 'error', 'cancelled']), z.int().min(100).max(599)])
        .optional()
        .describe(
          '`ok` is below 400, `error` is 400 or more, `cancelled` is 499: the client stopped; or one status',
        ),
      error_code: text(64).min(1).optional().describe('the code of an error'),
      request_id: text(REQUEST_ID_CHARS_MAX)
        .min(1)
        .optional()
        .describe('the `X-Request-Id` of the request or of its response'),
      limit: clamped(1, LIMIT_MAX).prefault(LIMIT_DEFAULT),
      cursor: text(CURSOR_CHARS_MAX).min(1).optional().describe('`next_cursor` of the page before'),
    }),
    result: z.object({
      requests: z.array(requestRecord),
      /** Null on the last page. */
      next_cursor: z.string().nullable(),
    }),
    isExtension: true,
  }),
  'requests.watch': method({
    auth: 'jwt',
    summary: 'Announce new requests on a stream, for 15 minutes.',
    params: z.object({ scope, group_id: requestFilter.group_id }),
    result: z.object({ stream_id: z.string(), expires_at: timestamp }),
    isExtension: true,
  }),
  'requests.get': method({
    auth: 'jwt',
    summary: 'One request: your own, or for admins any, and for group admins those of the group.',
    params: z.object({
      id: text(REQUEST_ID_CHARS_MAX)
        .min(1)
        .optional()
        .describe(
          'the `id` of the request, or the `X-Request-Id` that you sent with it: the newest of yours',
        ),
      request_id: text(REQUEST_ID_CHARS_MAX).min(1).optional().describe('another name of `id`'),
    }),
    result: record('RequestWithBodies', {
      ...requestRecord.shape,
      /** Null where bodies are not kept, or not shown: only the user and platform admins see them. */
      bodies: z
        .object({ request: z.string().nullable(), answer: z.string().nullable() })
        .nullable(),
    }),
    isExtension: true,
  }),
};
