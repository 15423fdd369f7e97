import { once } from 'node:events';
import { WebSocket } from 'ws';

/** How a server ended a WebSocket, or what it answered first. */
interface SocketAnswer {
  readonly bytes: Buffer;
  /** Undefined after an answer. */
  readonly closeCode: number | undefined;
}

/** Sends one frame of text over a WebSocket of its own; resolves with the first answer, or when the server closes it. */
export async function askSocket(url: string, bearer: string, frame: Buffer): Promise<SocketAnswer> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), {
    headers: { authorization: `Bearer ${bearer}` },
  });
  await once(socket, 'open');
  // A server that closes the connection while the frame is written is an answer too.
  socket.on('error', () => undefined);
  try {
    return await new Promise((resolve) => {
      socket.on('message', (bytes: Buffer) => resolve({ bytes, closeCode: undefined }));
      socket.on('close', (closeCode) => resolve({ bytes: Buffer.alloc(0), closeCode }));
      socket.send(frame, { binary: false });
    });
  } finally {
    socket.terminate();
  }
}
