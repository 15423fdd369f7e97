import { isExecutable, tryParseJson } from '@model-gateway/kernel';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** The file in the folder of a build that describes the installation. */
export const INSTALL_RECORD = 'install.json';

const recordShape = z.object({ sha256: z.string(), executableBytes: z.number() });

/** Whether a build is installed completely and, if a checksum is set, from the archive with that checksum. */
export async function isInstalled(
  folder: string,
  executable: string,
  sha256: string | undefined,
): Promise<boolean> {
  const text = await readFile(join(folder, INSTALL_RECORD), 'utf8').catch(() => undefined);
  if (text === undefined || !(await isExecutable(executable))) return false;
  const record = recordShape.safeParse(tryParseJson(text));
  if (!record.success) return false;
  const { size } = await stat(executable);
  const isExpected = sha256 === undefined || record.data.sha256 === sha256;
  return isExpected && record.data.executableBytes === size;
}
