import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { END, written, type UploadClient } from './upload-client.ts';

const MEGABYTE = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

/** The bytes of all buffers of this process. */
export function buffersNow(): number {
  collectGarbage();
  // Any other ends what this one left to another thread; a minor one takes a hundredth of its time.
  collectGarbage({ type: 'minor' });
  return process.memoryUsage().arrayBuffers;
}

interface LargeFiles {
  readonly sending: readonly ReturnType<UploadClient['begin']>[];
  /** What comes before the content of each file. */
  readonly head: string;
  readonly megabytes: number;
  /** After so many the buffers are counted. */
  readonly every: number;
}

/** Sends the content of files at the same time; resolves to the largest amount of buffers at any time. */
export async function sendFiles({ sending, head, megabytes, every }: LargeFiles): Promise<number> {
  const before = buffersNow();
  const piece = Buffer.alloc(MEGABYTE, 'a');
  let peak = 0;
  await Promise.all(sending.map(({ client }) => written(client, head)));
  for (let sent = 0; sent < megabytes; sent += 1) {
    await Promise.all(sending.map(({ client }) => written(client, piece)));
    if (sent % every === 0) peak = Math.max(peak, buffersNow() - before);
  }
  return peak;
}

/** The end of a file and of its form. */
export const FILE_END = `\r\n${END}`;
