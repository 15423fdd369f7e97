import { readFile, stat } from 'node:fs/promises';
import { delimiter, dirname, resolve } from 'node:path';
import { describeError, isError } from '@model-gateway/kernel';
import { parse } from 'smol-toml';
import { z } from 'zod';

const SYSTEMS = ['linux', 'macos', 'windows'] as const;
const SYSTEM_NAMES: Readonly<Record<string, (typeof SYSTEMS)[number]>> = {
  linux: 'linux',
  macos: 'macos',
  darwin: 'macos',
  windows: 'windows',
  win32: 'windows',
};

const manifestShape = z.strictObject({
  lib: z
    .array(
      z.strictObject({
        path: z.string().min(1),
        optional: z.boolean().default(false),
        target_os: z
          .string()
          .refine((name) => name in SYSTEM_NAMES, `target_os is one of ${SYSTEMS.join(', ')}`)
          .optional(),
      }),
    )
    .default([]),
});

/** One library that was asked for, and whether it can be shipped. */
export interface BundledLibrary {
  readonly path: string;
  /** The variable or the file that asks for it. */
  readonly source: string;
  readonly optional: boolean;
  /** `elsewhere` is one for another operating system, which is passed over. */
  readonly state: 'found' | 'missing' | 'elsewhere';
}

/** What `BROWSER_BUNDLE_LIBS` and `BROWSER_BUNDLE_MANIFEST` say, and the folder that their relative paths start from. */
export interface BundleConfig {
  readonly bundleLibs: string | undefined;
  readonly bundleManifest: string | undefined;
  readonly workingDirectory: string;
}

/** Why a list of libraries cannot be read: one sentence that names the file or variable. */
export class BundleListError extends Error {
  override readonly name = 'BundleListError';
}

/** Whether it says that a list of libraries cannot be read or shipped. */
export function isBundleListError(thrown: unknown): boolean {
  return isError(thrown) && thrown.name === 'BundleListError';
}

/** Reads both lists of libraries to ship. The paths of a manifest start from the manifest's own folder. */
export async function readBundleList(
  { bundleLibs, bundleManifest, workingDirectory }: BundleConfig,
  platform: string = process.platform,
): Promise<readonly BundledLibrary[]> {
  const direct = (bundleLibs ?? '')
    .split(delimiter)
    .filter((path) => path.trim() !== '')
    .map((path) => ({
      path: resolve(workingDirectory, path.trim()),
      source: 'BROWSER_BUNDLE_LIBS',
      optional: false,
      system: undefined,
    }));
  const listed =
    bundleManifest === undefined
      ? []
      : await readManifest(resolve(workingDirectory, bundleManifest));
  const own = SYSTEM_NAMES[platform];
  return Promise.all(
    [...direct, ...listed].map(async ({ system, ...library }): Promise<BundledLibrary> => {
      if (system !== undefined && system !== own) return { ...library, state: 'elsewhere' };
      return { ...library, state: (await isFile(library.path)) ? 'found' : 'missing' };
    }),
  );
}

async function readManifest(path: string) {
  const source = `BROWSER_BUNDLE_MANIFEST ${path}`;
  const fail = (reason: string): never => {
    throw new BundleListError(`${source}: ${reason}`);
  };
  const text = await readFile(path, 'utf8').catch((error: unknown) => fail(describeError(error)));
  const parsed = manifestShape.safeParse(parseToml(text, fail));
  if (!parsed.success) {
    const reasons = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`,
    );
    return fail(reasons.join('; '));
  }
  return parsed.data.lib.map((library) => ({
    path: resolve(dirname(path), library.path),
    source,
    optional: library.optional,
    system: library.target_os === undefined ? undefined : SYSTEM_NAMES[library.target_os],
  }));
}

function parseToml(text: string, fail: (reason: string) => never): unknown {
  try {
    return parse(text);
  } catch (error) {
    return fail(describeError(error).split('\n')[0] ?? 'not TOML');
  }
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
}
