import { readFile } from 'node:fs/promises';
import { delimiter, dirname, resolve } from 'node:path';
import { describeError, isFile } from '@model-gateway/kernel';
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
          .refine((name) => name in SYSTEM_NAMES, `target_os must be one of ${SYSTEMS.join(', ')}`)
          .optional(),
      }),
    )
    .default([]),
});

/** One listed library, and whether it can be shipped. */
export interface BundledLibrary {
  readonly path: string;
  /** The variable or the file that lists it. */
  readonly source: string;
  readonly optional: boolean;
  /** `elsewhere`: it is for another operating system and is skipped. */
  readonly state: 'found' | 'missing' | 'elsewhere';
}

/** The values of `BROWSER_BUNDLE_LIBS` and `BROWSER_BUNDLE_MANIFEST`, and the folder that relative paths start from. */
export interface BundleConfig {
  readonly bundleLibs: string | undefined;
  readonly bundleManifest: string | undefined;
  readonly workingDirectory: string;
}

/** A list of libraries cannot be read or shipped; the message names the file or variable. */
export class BundleListError extends Error {
  override readonly name = 'BundleListError';
}

/** Reads both lists of libraries to ship. Paths in a manifest are relative to the manifest's folder. */
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
