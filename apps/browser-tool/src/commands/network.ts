import { z } from 'zod';
import { clipPostData, type NetworkRecord } from '../capture/network-log.ts';
import type { BrowserEngine, ResponseBody } from '../engine.ts';
import { ToolError } from '../errors.ts';
import { command, type CommandData } from './command.ts';

const LIMIT_DEFAULT = 200;
const LIMIT_MAX = 1_000;
const BODY_BYTES_DEFAULT = 65_536;
const BODY_BYTES_MAX = 10 * 1024 * 1024;
const BODYLESS = ['GET', 'HEAD'];
const STATUSES = /^\s*[1-5](\d\d|xx)(\s*,\s*[1-5](\d\d|xx))*\s*$/i;
const REDACTED = '[redacted]';
const SECRET_HEADERS = new Set([
  'api-key',
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
  'x-api-key',
  'x-auth-token',
  'x-goog-api-key',
]);

export const network = command({
  name: 'network',
  http: { method: 'GET', path: '/network' },
  params: z.object({
    type: z.string().optional(),
    status: z
      .string()
      .regex(STATUSES, 'statuses such as 404 or 4xx, separated by commas')
      .optional(),
    url: z.string().optional(),
    method: z.string().optional(),
    failed: z.boolean().optional(),
    since: z.int().min(0).optional(),
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
  }),
  async run({ status, ...query }, { captures }) {
    const statuses = status?.split(',').map((part) => part.trim());
    return { ...captures.network.query({ ...query, status: statuses }) };
  },
});

export const networkEntry = command({
  name: 'network-entry',
  http: { method: 'GET', path: '/network/:id' },
  params: z.object({
    id: z.string(),
    body: z.boolean().default(false),
    maxBytes: z.int().min(0).max(BODY_BYTES_MAX).default(BODY_BYTES_DEFAULT),
    raw: z.boolean().default(false),
  }),
  async run({ id, body, maxBytes, raw }, { captures, engine }) {
    const record = captures.network.find(id);
    if (record === undefined) throw requestNotFound(id);
    const content = body ? await engine()?.responseBody(id) : undefined;
    const { post_data, isPostDataTruncated } = await sentData(record, engine());
    const shown = bodyData(content, maxBytes);
    const truncated = isPostDataTruncated || shown.truncated;
    return { ...shownRecord(record, raw), post_data, ...shown, truncated };
  },
});

export const clearNetwork = command({
  name: 'clear-network',
  http: { method: 'DELETE', path: '/network' },
  params: z.object({}),
  run: async (_params, { captures }) => ({ cleared: captures.network.clear() }),
});

function shownRecord(
  { isPostDataTruncated: _isCut, ...record }: NetworkRecord,
  raw: boolean,
): CommandData {
  if (raw) return record;
  return {
    ...record,
    request_headers: redacted(record.request_headers),
    response_headers: redacted(record.response_headers),
  };
}

function redacted(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_HEADERS.has(name.toLowerCase()) ? REDACTED : value,
    ]),
  );
}

/** The beginning of a request body; the browser is asked for a body that was too large to be captured. */
async function sentData(
  record: NetworkRecord,
  engine: BrowserEngine | undefined,
): Promise<Pick<NetworkRecord, 'post_data' | 'isPostDataTruncated'>> {
  if (record.post_data !== null || BODYLESS.includes(record.method)) return record;
  const content = await engine?.requestBody(record.id);
  if (content === undefined) return record;
  return clipPostData(Buffer.from(content.body, content.isBase64 ? 'base64' : 'utf8'));
}

function bodyData(
  content: ResponseBody | undefined,
  maxBytes: number,
): {
  readonly body: string | null;
  readonly body_base64: string | null;
  readonly truncated: boolean;
} {
  if (content === undefined) return { body: null, body_base64: null, truncated: false };
  const bytes = Buffer.from(content.body, content.isBase64 ? 'base64' : 'utf8');
  const shown = bytes.subarray(0, maxBytes);
  return {
    body: content.isBase64 ? null : shown.toString('utf8'),
    body_base64: content.isBase64 ? shown.toString('base64') : null,
    truncated: bytes.length > maxBytes,
  };
}

function requestNotFound(id: string): ToolError {
  return new ToolError('NOT_FOUND', `Request ${id} is not stored.`, {
    hint: 'GET /network lists the stored requests.',
    details: { id },
  });
}
