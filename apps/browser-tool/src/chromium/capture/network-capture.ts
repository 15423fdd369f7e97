import type { Protocol } from 'devtools-protocol';
import { LRUCache } from 'lru-cache';
import { clipHeaders } from '../../capture/network-log.ts';
import type { Captures } from '../../capture/captures.ts';
import type { CdpEvent } from '../cdp-connection.ts';

/** The browser's ids of a captured request. */
export interface RequestSource {
  readonly requestId: string;
  readonly sessionId: string;
}

/** Captures requests and WebSockets. */
export interface NetworkCapture {
  handle(event: CdpEvent): void;
  /** Marks the WebSockets of a session, or all, as closed: the browser does not report this when a document or worker ends. */
  closeSockets(sessionId?: string): void;
  sourceOf(entryId: string): RequestSource | undefined;
}

type HeaderText = Readonly<Record<string, string>>;

interface EarlyHeaders {
  readonly request_headers?: HeaderText;
  readonly response_headers?: HeaderText;
}

interface SocketSource {
  readonly id: string;
  readonly sessionId: string;
}

const KEPT = { max: 2_000 };
const EARLY_CHARS_MAX = 4 * 1024 * 1024;
const ERROR_PAGE = 'chrome-error:';
// The tool's own rules; other reasons are reported.
const BLOCKED_BY_US = 'inspector';

/** Writes into the network and WebSocket logs. */
export function createNetworkCapture(captures: Captures): NetworkCapture {
  const { network, webSockets } = captures;
  const entries = new LRUCache<string, string>(KEPT);
  const sources = new LRUCache<string, RequestSource>(KEPT);
  const sockets = new LRUCache<string, SocketSource>(KEPT);
  // All headers are reported by another process of the browser than the request, and can arrive before it.
  const early = new LRUCache<string, EarlyHeaders>({
    maxSize: EARLY_CHARS_MAX,
    sizeCalculation: (headers) => JSON.stringify(headers).length,
  });

  function started(params: Protocol.Network.RequestWillBeSentEvent, sessionId: string): void {
    const { requestId, request, redirectResponse, type, initiator, documentURL } = params;
    // Resources of the browser's error page.
    if (documentURL.startsWith(ERROR_PAGE)) return;
    const before = entries.get(requestId);
    if (before !== undefined && redirectResponse !== undefined) {
      network.finish(before, responseChange(redirectResponse));
      addHeaders(requestId, redirectResponse.headers);
    }
    const id = network.start({
      url: request.url,
      method: request.method,
      type: (type ?? 'Other').toLowerCase(),
      initiator: initiatorText(initiator),
      request_headers: request.headers,
      // oxlint-disable-next-line typescript/no-deprecated -- the entries that replace it leave texts out
      post_data: request.postData ?? null,
    });
    entries.set(requestId, id);
    sources.set(id, { requestId, sessionId });
    network.change(id, early.get(requestId) ?? {});
    early.delete(requestId);
  }

  /** Headers arrive in two events: those that pages may read, and all. */
  function addHeaders(requestId: string, headers: HeaderText): void {
    const id = entries.get(requestId);
    if (id === undefined) return keepEarly(requestId, { response_headers: headers });
    const known = network.find(id)?.response_headers;
    network.change(id, { response_headers: { ...headers, ...known } });
  }

  function keepEarly(requestId: string, headers: EarlyHeaders): void {
    early.set(requestId, { ...early.get(requestId), ...clipHeaders(headers) });
  }

  function onRequest(event: CdpEvent): void {
    const entry = (requestId: string): string => entries.get(requestId) ?? '';
    switch (event.method) {
      case 'Network.requestWillBeSent':
        started(event.params, event.sessionId ?? '');
        break;
      case 'Network.requestWillBeSentExtraInfo': {
        const { requestId, headers } = event.params;
        if (entries.has(requestId)) {
          network.change(entry(requestId), { request_headers: headers });
        } else {
          keepEarly(requestId, { request_headers: headers });
        }
        break;
      }
      case 'Network.responseReceived': {
        const { requestId, response, type } = event.params;
        network.change(entry(requestId), { ...responseChange(response), type: type.toLowerCase() });
        addHeaders(requestId, response.headers);
        break;
      }
      case 'Network.responseReceivedExtraInfo':
        addHeaders(event.params.requestId, event.params.headers);
        break;
      case 'Network.requestServedFromCache':
        network.change(entry(event.params.requestId), { from_cache: true });
        break;
      case 'Network.loadingFinished': {
        const { requestId, encodedDataLength } = event.params;
        network.finish(entry(requestId), { size: Math.round(encodedDataLength) });
        break;
      }
      case 'Network.loadingFailed': {
        const { requestId, errorText, blockedReason } = event.params;
        const isPlain = blockedReason === undefined || blockedReason === BLOCKED_BY_US;
        const plain = errorText.replace(/\.Inspector$/, '');
        const failed = isPlain ? plain : `${errorText} (${blockedReason})`;
        network.finish(entry(requestId), { failed });
        break;
      }
      default:
    }
  }

  function onSocket(event: CdpEvent): void {
    const socket = (requestId: string): string => sockets.get(requestId)?.id ?? '';
    switch (event.method) {
      case 'Network.webSocketCreated':
        sockets.set(event.params.requestId, {
          id: webSockets.open(event.params.url),
          sessionId: event.sessionId ?? '',
        });
        break;
      case 'Network.webSocketHandshakeResponseReceived':
        webSockets.opened(socket(event.params.requestId));
        break;
      case 'Network.webSocketFrameSent':
        webSockets.frame(socket(event.params.requestId), frameOf('sent', event.params.response));
        break;
      case 'Network.webSocketFrameReceived':
        webSockets.frame(
          socket(event.params.requestId),
          frameOf('received', event.params.response),
        );
        break;
      case 'Network.webSocketFrameError':
        webSockets.fail(socket(event.params.requestId), event.params.errorMessage);
        break;
      case 'Network.webSocketClosed':
        webSockets.close(socket(event.params.requestId));
        sockets.delete(event.params.requestId);
        break;
      default:
    }
  }

  return {
    sourceOf: (entryId) => sources.get(entryId),
    closeSockets(sessionId) {
      sockets.rforEach((socket, requestId) => {
        if (sessionId !== undefined && socket.sessionId !== sessionId) return;
        webSockets.close(socket.id);
        sockets.delete(requestId);
      });
    },
    handle(event) {
      if (event.method.startsWith('Network.webSocket')) onSocket(event);
      else if (event.method.startsWith('Network.')) onRequest(event);
    },
  };
}

function responseChange({ status, fromDiskCache, fromServiceWorker }: Protocol.Network.Response) {
  return {
    status,
    ...(fromDiskCache === true || fromServiceWorker === true ? { from_cache: true } : {}),
  };
}

function frameOf(
  direction: 'sent' | 'received',
  { opcode, payloadData }: Protocol.Network.WebSocketFrame,
) {
  return { direction, opcode, payload: payloadData };
}

function initiatorText({ type, url, lineNumber, stack }: Protocol.Network.Initiator): string {
  const frame = stack?.callFrames[0];
  if (frame !== undefined) return `${type} ${frame.url}:${frame.lineNumber + 1}`;
  if (url === undefined) return type;
  return lineNumber === undefined ? `${type} ${url}` : `${type} ${url}:${lineNumber + 1}`;
}
