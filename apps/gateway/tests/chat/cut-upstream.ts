import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a stream goes on after its last piece. */
type Ending = 'end' | 'silence';

/** An upstream whose streams are what a test says. */
export interface CutUpstream {
  readonly url: string;
  /** What the next streams are. */
  answer(pieces: readonly string[], ending: Ending): void;
  /** Breaks the connections of all streams. */
  reset(): void;
  close(): Promise<void>;
}

/** As the kinds of backends read it. */
const LISTING = {
  data: [{ id: 'cut' }],
  models: [{ name: 'cut', model: 'cut', supportedGenerationMethods: ['generateContent'] }],
};

/** It serves the model `cut`. */
export async function startCutUpstream(): Promise<CutUpstream> {
  let script: readonly string[] = [];
  let how: Ending = 'end';
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.method === 'GET') {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(LISTING));
        return;
      }
      response.setHeader('content-type', 'text/event-stream');
      response.write(script.join(''));
      if (how === 'end') response.end();
      streams.add(response);
      response.on('close', () => streams.delete(response));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answer(pieces, ending) {
      script = pieces;
      how = ending;
    },
    reset() {
      for (const stream of streams) stream.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
