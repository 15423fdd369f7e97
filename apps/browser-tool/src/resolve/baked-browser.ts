import { readFile, rm, writeFile } from 'node:fs/promises';
import type { Log } from '@model-gateway/kernel';
import { z } from 'zod';
import { whyNotExecutable } from './executable.ts';

const bakedShape = z.object({ executable: z.string(), version: z.string() });

/** What the build wrote down about the browser that it downloaded. */
export type BakedBrowser = z.output<typeof bakedShape>;

/** Reads what the build wrote; a browser that is gone since then counts as none, and the search goes on. */
export async function readBakedBrowser(file: string, log: Log): Promise<BakedBrowser | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const baked = bakedShape.safeParse(parseJson(text));
  const problem = baked.success
    ? await whyNotExecutable(baked.data.executable)
    : 'is not written down as it should be';
  if (baked.success && problem === undefined) return baked.data;
  log.warn({ file, problem }, 'the browser of the build is passed over');
  return undefined;
}

/** Writes it down; undefined takes back what an earlier build wrote. */
export async function writeBakedBrowser(
  file: string,
  baked: BakedBrowser | undefined,
): Promise<void> {
  if (baked === undefined) await rm(file, { force: true });
  else await writeFile(file, `${JSON.stringify(baked)}\n`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
