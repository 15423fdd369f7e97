import { readFile, rm, writeFile } from 'node:fs/promises';
import { tryParseJson, whyNotExecutable, type Log } from '@model-gateway/kernel';
import { z } from 'zod';

const bakedShape = z.object({ executable: z.string(), version: z.string() });

/** The browser that the build downloaded. */
export type BakedBrowser = z.output<typeof bakedShape>;

/** Reads the file that the build wrote; undefined if there is none or its browser no longer exists. */
export async function readBakedBrowser(file: string, log: Log): Promise<BakedBrowser | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const baked = bakedShape.safeParse(tryParseJson(text));
  const problem = baked.success
    ? await whyNotExecutable(baked.data.executable)
    : 'is not valid JSON of the expected shape';
  if (baked.success && problem === undefined) return baked.data;
  log.warn({ file, problem }, 'ignoring the browser of the build');
  return undefined;
}

/** Writes the file; undefined removes the file of an earlier build. */
export async function writeBakedBrowser(
  file: string,
  baked: BakedBrowser | undefined,
): Promise<void> {
  if (baked === undefined) await rm(file, { force: true });
  else await writeFile(file, `${JSON.stringify(baked)}\n`);
}
