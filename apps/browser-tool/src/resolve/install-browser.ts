import { rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  describeError,
  errorCode,
  isExecutable,
  makeDirectory,
  type Log,
} from '@model-gateway/kernel';
import { ToolError } from '../errors.ts';
import type { ChromeBuild } from './chrome-build.ts';
import { downloadFile, withoutCredentials } from './download-file.ts';
import { withInstallLock } from './install-lock.ts';
import { INSTALL_RECORD, isInstalled } from './installed-browser.ts';
import { unzip } from './unzip.ts';

const FOLDER_MODE = 0o755;
const LOCK_WAIT_TRIES = 4;

/** The checksum that an archive must have, in small letters, and where it comes from. */
export interface ExpectedChecksum {
  readonly sha256: string;
  readonly source: string;
}

interface InstallOptions {
  /** The cache of browsers, which every process of the user shares. */
  readonly cache: string;
  readonly expected: ExpectedChecksum | undefined;
  readonly proxy: string | undefined;
  readonly timeoutMs: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Installs a build into the cache unless it is there, and returns its executable. Only one process downloads it at a time. */
export async function installBrowser(build: ChromeBuild, options: InstallOptions): Promise<string> {
  const { expected, timeoutMs, signal } = options;
  const folder = join(options.cache, build.folder);
  const executable = join(folder, build.executable);
  if (await isInstalled(folder, executable, expected?.sha256)) return executable;
  const path = `${folder}.lock`;
  try {
    await makeDirectory(dirname(folder), FOLDER_MODE);
    await withInstallLock({ path, waitMaxMs: timeoutMs * LOCK_WAIT_TRIES, signal }, async () => {
      if (await isInstalled(folder, executable, expected?.sha256)) return;
      await install(build, { folder, workFolder: path }, options);
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError) throw error;
    throw new ToolError(
      'DOWNLOAD_FAILED',
      `the browser could not be installed in ${folder}: ${describeError(error)}.`,
      {
        hint: 'Check the folder and its disk, or install a browser and set CHROMIUM_PATH to it.',
        cause: error,
      },
    );
  }
  return executable;
}

async function install(
  build: ChromeBuild,
  { folder, workFolder }: { readonly folder: string; readonly workFolder: string },
  options: InstallOptions,
): Promise<void> {
  const archive = join(workFolder, 'archive.zip');
  const content = join(workFolder, 'content');
  const sha256 = await downloadFile({ ...options, url: build.url, destination: archive });
  checkSum(build, sha256, options.expected);
  await makeDirectory(content, FOLDER_MODE);
  await unpack(build, archive, content);
  const { size } = await stat(join(content, build.executable));
  const record = { version: build.version, sha256, executableBytes: size };
  await writeFile(join(content, INSTALL_RECORD), JSON.stringify(record));
  await putInPlace(content, folder, join(workFolder, 'replaced'));
  options.log.info({ folder, version: build.version }, 'installed the browser');
}

function checkSum(
  build: ChromeBuild,
  actual: string,
  expected: ExpectedChecksum | undefined,
): void {
  if (expected === undefined || expected.sha256 === actual) return;
  const { sha256, source } = expected;
  const url = withoutCredentials(build.url);
  throw new ToolError(
    'CHECKSUM_MISMATCH',
    `the archive from ${url} has the SHA-256 ${actual}, but ${source} is ${sha256}. Nothing was installed.`,
    {
      hint: 'Check the mirror, and whether the checksum belongs to this version and platform.',
      details: { url, expected: sha256, actual },
    },
  );
}

async function unpack(build: ChromeBuild, archive: string, content: string): Promise<void> {
  const url = withoutCredentials(build.url);
  const refuse = (reason: string, cause?: unknown): never => {
    throw new ToolError(
      'DOWNLOAD_FAILED',
      `the archive from ${url} cannot be used: ${reason}. Nothing was installed.`,
      { hint: 'Check BROWSER_CHROME_MIRROR.', details: { url }, cause },
    );
  };
  await unzip(archive, content).catch((error: unknown) => refuse(describeError(error), error));
  if (!(await isExecutable(join(content, build.executable)))) {
    refuse(`it contains no executable ${build.executable}`);
  }
}

/** By a rename, so that other processes never see a partial installation. */
async function putInPlace(content: string, folder: string, replaced: string): Promise<void> {
  try {
    await rename(content, folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
    // The existing folder is damaged or from another archive; otherwise it would count as installed.
    await rename(folder, replaced);
    await rename(content, folder);
  }
}
