import type { Exchange } from './exchange.ts';

/** Announces a complete JSON body, sends half of it and destroys the connection. */
export async function sendCut(exchange: Exchange, body: string): Promise<void> {
  const bytes = Buffer.from(body);
  exchange.response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': bytes.length,
  });
  await new Promise<void>((resolve) => {
    exchange.response.write(bytes.subarray(0, bytes.length >> 1), () => resolve());
  });
  exchange.cut();
}
