import { Duplex } from 'node:stream';
import { DATA_BYTES_MAX, encodeCredit, encodeFrame, TunnelError } from './frame.ts';
import type { SendQueue } from './send-queue.ts';

/** The two bodies of an exchange as one stream: writes go to the peer, reads come from it. */
export interface ExchangeBody {
  readonly stream: Duplex;
  onData(bytes: Buffer): void;
  onEnd(): void;
  onReset(reason: string): void;
  onCredit(bytes: number): void;
}

/** How many sent bytes the reader may not have read yet. */
const WINDOW_BYTES = 256 * 1024;
/** Credit is granted in portions, so that many small chunks do not cost as many credit frames. */
const GRANT_BYTES_MIN = WINDOW_BYTES / 2;
const READ_AHEAD_BYTES = 64 * 1024;
const CREDIT_MAX = 2 ** 31;

interface PendingWrite {
  rest: Buffer;
  readonly done: () => void;
}

export function createExchangeBody(exchangeId: number, sendQueue: SendQueue): ExchangeBody {
  let credit = WINDOW_BYTES;
  let pending: PendingWrite | undefined;
  let isQueued = false;
  /** What the peer may still send. */
  let allowance = WINDOW_BYTES;
  /** What has been read and not been granted again. */
  let ungranted = 0;
  let isEndedByPeer = false;
  let isResetByPeer = false;

  /** Sends as much of the pending chunk as possible now. */
  function pump(): void {
    while (pending !== undefined && credit > 0) {
      if (sendQueue.isFull) return queue();
      sendPiece(pending);
    }
  }

  function queue(): void {
    if (isQueued) return;
    isQueued = true;
    sendQueue.onReady(pumpNext);
  }

  /** Sends at least one frame: it is this exchange's turn, even while others wait. */
  function pumpNext(): void {
    isQueued = false;
    if (pending !== undefined && credit > 0) sendPiece(pending);
    pump();
  }

  function sendPiece(write: PendingWrite): void {
    const size = Math.min(write.rest.length, credit, DATA_BYTES_MAX);
    credit -= size;
    const piece = write.rest.subarray(0, size);
    write.rest = write.rest.subarray(size);
    sendQueue.send(encodeFrame('data', exchangeId, piece));
    if (write.rest.length > 0) return;
    pending = undefined;
    write.done();
  }

  function grant(): void {
    if (ungranted < GRANT_BYTES_MIN || stream.destroyed) return;
    sendQueue.send(encodeCredit(exchangeId, ungranted));
    allowance += ungranted;
    ungranted = 0;
  }

  const stream = new Duplex({
    readableHighWaterMark: READ_AHEAD_BYTES,
    writableHighWaterMark: READ_AHEAD_BYTES,
    read: grant,
    write(chunk: Buffer, _encoding, done) {
      if (chunk.length === 0) return done();
      pending = { rest: chunk, done };
      pump();
    },
    final(done) {
      sendQueue.send(encodeFrame('end', exchangeId));
      done();
    },
    destroy(error, done) {
      pending = undefined;
      const isComplete = stream.readableEnded && stream.writableFinished;
      if (!isComplete && !isResetByPeer) {
        const reason = Buffer.from(error?.message ?? 'cancelled');
        sendQueue.send(encodeFrame('reset', exchangeId, reason.subarray(0, DATA_BYTES_MAX)));
      }
      done(error);
    },
  });

  return {
    stream,
    onData(bytes) {
      if (isEndedByPeer) throw new TunnelError('data after the end of a body');
      if (bytes.length > allowance) throw new TunnelError('data exceeds the credit');
      allowance -= bytes.length;
      ungranted += bytes.length;
      if (stream.push(bytes)) grant();
    },
    onEnd() {
      isEndedByPeer = true;
      stream.push(null);
    },
    onReset(reason) {
      isResetByPeer = true;
      stream.destroy(new Error(reason));
    },
    onCredit(bytes) {
      credit += bytes;
      if (credit > CREDIT_MAX) throw new TunnelError('the credit is too large');
      pump();
    },
  };
}
