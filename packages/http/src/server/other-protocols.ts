import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The headers that offer another protocol. */
const OFFER_HEADERS = new Set(['upgrade', 'http2-settings']);

/** Whether a request asks for a WebSocket. */
export const wantsWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Serves a request that offers another protocol as one without the offer, which a server may ignore: the HTTP client of Java
 * offers `h2c` with every request. Node leaves such a request to the listener of `upgrade` and has stopped to read the
 * connection as HTTP, so that the connection begins anew with this request.
 */
export function serveWithoutOffer(
  server: Server,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  // An earlier request that is not answered yet would get its answer between those of the new beginning.
  const isAnswering = Boolean(Reflect.get(socket, '_httpMessage'));
  if (isAnswering || !(socket instanceof Socket)) {
    socket.destroy();
    return;
  }
  socket.unshift(Buffer.concat([headOf(request), head]));
  server.emit('connection', socket);
}

/** The head of a request as it came, without the offer. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const isConnection = name.toLowerCase() === 'connection';
    const kept = isConnection ? withoutOffer(value) : value;
    if (!OFFER_HEADERS.has(name.toLowerCase()) && !(isConnection && kept === ''))
      lines.push(`${name}: ${kept}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

const withoutOffer = (connection: string): string =>
  connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option !== '' && !OFFER_HEADERS.has(option.toLowerCase()))
    .join(', ');
