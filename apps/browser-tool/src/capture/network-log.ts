import type { LogContext } from './log-context.ts';
import { clipText } from './clip-text.ts';
import { textBytes, type StoredSize } from './byte-budget.ts';
import { createRing, selectEntries } from './ring.ts';

const REQUESTS_MAX = 1_000;
const POST_BYTES_MAX = 64 * 1024;
// The URL of an image may contain the image.
const URL_CHARS_MAX = 10_000;
const INITIATOR_CHARS_MAX = 2_000;
const NAME_CHARS_MAX = 200;
const METHOD_CHARS_MAX = 100;
const HEADERS_CHARS_MAX = 64 * 1024;

/** A request of a page, as lists show it. */
export interface NetworkEntry {
  readonly seq: number;
  readonly id: string;
  /** The last part of the path. */
  readonly name: string;
  readonly url: string;
  readonly method: string;
  /** `document`, `fetch`, `image` and so on. */
  readonly type: string;
  readonly status: number | null;
  /** Milliseconds until the last byte; null while it is in flight. */
  readonly duration: number | null;
  /** Bytes over the wire. */
  readonly size: number;
  readonly started_at: string;
  readonly from_cache: boolean;
  /** Why it failed, such as `net::ERR_CONNECTION_REFUSED`. */
  readonly failed: string | null;
  readonly initiator: string;
}

type Headers = Readonly<Record<string, string>>;

/** A request with everything that is stored about it. */
export interface NetworkRecord extends NetworkEntry {
  readonly request_headers: Headers;
  readonly response_headers: Headers;
  /** The beginning of the body that it sent. */
  readonly post_data: string | null;
  readonly isPostDataTruncated: boolean;
}

export type NewRequest = Pick<
  NetworkRecord,
  'url' | 'method' | 'type' | 'initiator' | 'request_headers' | 'post_data'
>;

export type RequestChange = Partial<
  Pick<
    NetworkRecord,
    'status' | 'type' | 'size' | 'from_cache' | 'failed' | 'request_headers' | 'response_headers'
  >
>;

export interface NetworkQuery {
  readonly type?: string | undefined;
  /** `404`, `4xx` or several of them. */
  readonly status?: readonly string[] | undefined;
  /** A part of the URL. */
  readonly url?: string | undefined;
  readonly method?: string | undefined;
  readonly failed?: boolean | undefined;
  readonly since?: number | undefined;
  readonly limit: number;
}

export interface NetworkLog {
  /** Returns the id of the entry. */
  start(request: NewRequest): string;
  change(id: string, change: RequestChange): void;
  /** The last byte or a failure arrived. */
  finish(id: string, change: RequestChange): void;
  find(id: string): NetworkRecord | undefined;
  query(query: NetworkQuery): {
    readonly resources: readonly NetworkEntry[];
    readonly next: number;
    readonly dropped: number;
  };
  clear(): number;
}

/** An empty network log. */
export function createNetworkLog({ next, clock, events, budget }: LogContext): NetworkLog {
  const records = new Map<string, NetworkRecord>();
  const sizes = new Map<string, StoredSize>();
  const ring = createRing<string>(REQUESTS_MAX, (id) => {
    records.delete(id);
    sizes.get(id)?.release();
    sizes.delete(id);
  });

  function change(id: string, changes: RequestChange): NetworkRecord | undefined {
    const record = records.get(id);
    if (record === undefined) return undefined;
    const changed = { ...record, ...clipHeaders(changes) };
    records.set(id, changed);
    sizes.get(id)?.resize(bytesOf(changed));
    return records.get(id);
  }

  return {
    start(request) {
      const seq = next();
      const id = `r${seq}`;
      const record: NetworkRecord = {
        seq,
        id,
        name: nameOf(request.url),
        status: null,
        duration: null,
        size: 0,
        started_at: new Date(clock.now()).toISOString(),
        from_cache: false,
        failed: null,
        response_headers: {},
        ...request,
        ...clipHeaders(request),
        method: clipText(request.method, METHOD_CHARS_MAX),
        url: clipText(request.url, URL_CHARS_MAX),
        initiator: clipText(request.initiator, INITIATOR_CHARS_MAX),
        ...clipPostData(request.post_data),
      };
      records.set(id, record);
      ring.add(id);
      sizes.set(
        id,
        budget.store(bytesOf(record), () => ring.dropOldest()),
      );
      return id;
    },
    change(id, changes) {
      change(id, changes);
    },
    finish(id, changes) {
      const record = change(id, changes);
      if (record === undefined || record.duration !== null) return;
      const finished = { ...record, duration: clock.now() - Date.parse(record.started_at) };
      records.set(id, finished);
      events.publish('network', toListEntry(finished));
    },
    find: (id) => records.get(id),
    query({ since, limit, ...filter }) {
      const found = ring
        .entries()
        .flatMap((id) => records.get(id) ?? [])
        .filter((record) => record.seq > (since ?? 0) && matches(record, filter));
      const { page, next: following } = selectEntries(found, since, limit);
      return { resources: page.map(toListEntry), next: following, dropped: ring.dropped };
    },
    clear() {
      return ring.clear();
    },
  };
}

/** The headers that are stored: the first ones, as far as they are not longer than the limit. */
export function clipHeaders<Change extends RequestChange>(change: Change): Change {
  const { request_headers: request, response_headers: response } = change;
  return {
    ...change,
    ...(request === undefined ? {} : { request_headers: firstHeaders(request) }),
    ...(response === undefined ? {} : { response_headers: firstHeaders(response) }),
  };
}

function firstHeaders(headers: Headers): Headers {
  let rest = HEADERS_CHARS_MAX;
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name.length > rest) break;
    rest -= name.length;
    kept.push([name, clipText(value, rest)]);
    rest = Math.max(0, rest - value.length);
  }
  return Object.fromEntries(kept);
}

function bytesOf(record: NetworkRecord): number {
  const { request_headers: request, response_headers: response } = record;
  return textBytes(
    record.url,
    record.initiator,
    record.post_data,
    ...Object.entries(request).flat(),
    ...Object.entries(response).flat(),
  );
}

/** The part of a request body that is stored. */
export function clipPostData(
  sent: string | Buffer | null,
): Pick<NetworkRecord, 'post_data' | 'isPostDataTruncated'> {
  if (sent === null) return { post_data: null, isPostDataTruncated: false };
  const bytes = Buffer.from(sent);
  const isPostDataTruncated = bytes.length > POST_BYTES_MAX;
  return { post_data: bytes.subarray(0, POST_BYTES_MAX).toString('utf8'), isPostDataTruncated };
}

function toListEntry({
  request_headers: _request,
  response_headers: _response,
  post_data: _post,
  isPostDataTruncated: _isCut,
  ...entry
}: NetworkRecord): NetworkEntry {
  return entry;
}

function matches(record: NetworkRecord, filter: Omit<NetworkQuery, 'since' | 'limit'>): boolean {
  const { type, status, url, method, failed } = filter;
  if (type !== undefined && !type.toLowerCase().split(',').includes(record.type)) return false;
  if (status !== undefined && !status.some((pattern) => matchesStatus(record.status, pattern))) {
    return false;
  }
  if (url !== undefined && !record.url.includes(url)) return false;
  if (method !== undefined && record.method !== method.toUpperCase()) return false;
  return failed === undefined || (record.failed !== null) === failed;
}

function matchesStatus(status: number | null, pattern: string): boolean {
  if (status === null) return false;
  return /^[1-5]xx$/i.test(pattern)
    ? Math.floor(status / 100) === Number(pattern[0])
    : String(status) === pattern;
}

function nameOf(url: string): string {
  if (!URL.canParse(url)) return url.slice(0, 80);
  const { protocol, pathname, host } = new URL(url);
  if (protocol === 'data:') return `${url.slice(0, 40)}…`;
  return clipText(pathname.split('/').findLast((part) => part !== '') ?? host, NAME_CHARS_MAX);
}
