import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server sends, to the byte. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** How many bytes arrive at once. */
  readonly pieceBytes: number;
  /** `reset`: the connection breaks after the last byte. */
  readonly ending: 'end' | 'reset';
}

/** Answers each request by the model that it names, whatever the API. */
export interface RawUpstream {
  readonly url: string;
  /** How many requests named a model. */
  readonly requestsOf: (model: string) => number;
  close(): Promise<void>;
}

const GEMINI_METHODS = ['generateContent', 'embedContent'];

/** Lists the models as each kind of backend reads it. */
const listingOf = (path: string, models: readonly string[]) =>
  path === '/api/tags'
    ? { models: models.map((name) => ({ name })) }
    : {
        data: models.map((id) => ({ id, type: 'model' })),
        models: models.map((id) => ({
          name: `models/${id}`,
          supportedGenerationMethods: GEMINI_METHODS,
        })),
      };

export async function startRawUpstream(
  answers: ReadonlyMap<string, RawAnswer>,
): Promise<RawUpstream> {
  const counts = new Map<string, number>();
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { url = '' } = request;
      if (request.method === 'GET') {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(listingOf(url, [...answers.keys()])));
        return;
      }
      const asked = `${url} ${Buffer.concat(parts).toString()}`;
      const model = /zoo-\d+/.exec(asked)?.[0] ?? '';
      const answer = answers.get(model);
      counts.set(model, (counts.get(model) ?? 0) + 1);
      if (answer === undefined) response.destroy();
      else void send(response, answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requestsOf: (model) => counts.get(model) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function send(response: ServerResponse, answer: RawAnswer): Promise<void> {
  const { status, headers, bytes, pieceBytes, ending } = answer;
  response.writeHead(status, headers);
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    const piece = bytes.subarray(from, from + pieceBytes);
    await new Promise<void>((resolve) => response.write(piece, () => resolve()));
  }
  if (ending === 'end') response.end();
  else response.destroy();
}
