import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { describeError, errorCode, type Log } from '@model-gateway/kernel';
import { got, HTTPError, TimeoutError } from 'got';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { SocksProxyAgent } from 'socks-proxy-agent';
import { ToolError } from '../errors.ts';

const TRIES_MAX = 3;
const RETRY_DELAY_MS = 300;
const DOWNLOAD_BYTES_MAX = 2 * 1024 ** 3;
const REDIRECTS_MAX = 5;
// Disk errors do not go away with another attempt.
const LOCAL_FAILURES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'EFBIG']);
const TEMPORARY_STATUSES = new Set([408, 425, 429]);

interface DownloadRequest {
  readonly url: string;
  readonly destination: string;
  readonly proxy: string | undefined;
  /** For each attempt. */
  readonly timeoutMs: number;
  readonly log: Log;
  /** Aborted when the download is no longer needed. */
  readonly signal: AbortSignal;
}

/** Downloads a file, with up to three attempts, and returns its SHA-256 in hex. */
export async function downloadFile(request: DownloadRequest): Promise<string> {
  const url = withoutCredentials(request.url);
  for (let tries = 1; ; tries += 1) {
    try {
      request.log.info({ url, tries }, 'downloading the browser');
      return await fetchOnce(request);
    } catch (error) {
      request.signal.throwIfAborted();
      const reason = reasonOf(error, request);
      if (tries >= TRIES_MAX || !isTemporary(error)) throw failure(url, tries, reason, error);
      request.log.warn({ url, tries, reason }, 'the download failed; retrying');
      await delay(RETRY_DELAY_MS * 2 ** (tries - 1), undefined, { signal: request.signal });
    }
  }
}

async function fetchOnce(request: DownloadRequest): Promise<string> {
  const hash = createHash('sha256');
  let bytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      done(bytes > DOWNLOAD_BYTES_MAX ? new Error('it is larger than 2 GiB') : null, chunk);
    },
  });
  const stream = got.stream(request.url, {
    retry: { limit: 0 },
    timeout: { request: request.timeoutMs },
    maxRedirects: REDIRECTS_MAX,
    decompress: false,
    ...(request.proxy === undefined ? {} : { agent: proxyAgents(request.proxy) }),
  });
  const file = createWriteStream(request.destination);
  await pipeline(stream, meter, file, { signal: request.signal });
  return hash.digest('hex');
}

/** Agents for an `http://`, `https://` or `socks5://` proxy. They send the user name and password of the URL. */
function proxyAgents(proxy: string) {
  if (new URL(proxy).protocol === 'socks5:') {
    // The proxy resolves names, as for a browser: this machine may have no access to external DNS.
    const agent = new SocksProxyAgent(proxy.replace(/^socks5:/i, 'socks5h:'));
    return { http: agent, https: agent };
  }
  // Many proxies allow CONNECT only to port 443, so an http mirror is requested by its full URL.
  return { http: new HttpProxyAgent(proxy), https: new HttpsProxyAgent(proxy) };
}

function isTemporary(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return status >= 500 || TEMPORARY_STATUSES.has(status);
  return !LOCAL_FAILURES.has(errorCode(error) ?? '');
}

/** The status of an error response; got adds the response to later errors too. */
function statusOf(error: unknown): number | undefined {
  return error instanceof HTTPError ? error.response.statusCode : undefined;
}

function reasonOf(error: unknown, { timeoutMs, proxy }: DownloadRequest): string {
  const through = proxy === undefined ? '' : ` through the proxy ${withoutCredentials(proxy)}`;
  const status = statusOf(error);
  if (status !== undefined) return `the server responded with HTTP ${status}${through}`;
  if (error instanceof TimeoutError) {
    return `it took longer than ${timeoutMs / 1000} s (BROWSER_DOWNLOAD_TIMEOUT_SECS)${through}`;
  }
  return `${describeError(error)}${through}`;
}

function failure(url: string, tries: number, reason: string, cause: unknown): ToolError {
  const often = tries === 1 ? 'once' : `${tries} times`;
  return new ToolError(
    'DOWNLOAD_FAILED',
    `the browser could not be downloaded from ${url} (tried ${often}): ${reason}.`,
    {
      hint: 'Check the network, BROWSER_CHROME_MIRROR and BROWSER_DOWNLOAD_PROXY, or install a browser and set CHROMIUM_PATH to it.',
      details: { url, tries },
      cause,
    },
  );
}

/** A URL without credentials, for messages. */
export function withoutCredentials(url: string): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href.replace(/\/$/, '');
}
