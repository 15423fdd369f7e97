import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How a file can be sent, best first. */
const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

export type ConsoleEncoding = (typeof ENCODINGS)[number]['name'];

export interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  readonly encoding: ConsoleEncoding | undefined;
}

/** The files of the web console as the build wrote them. */
export interface ConsoleFiles {
  /** A file in the best encoding of those that are accepted; undefined when the build has no such file. */
  read(name: string, accepted: readonly string[]): Promise<ConsoleFile | undefined>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A bundle finds the folder by the name of the package. */
const builtFolder = (): URL =>
  new URL(
    './dist/',
    pathToFileURL(createRequire(import.meta.url).resolve('@model-gateway/console/package.json')),
  );

export function createConsoleFiles(folder: () => URL = builtFolder): ConsoleFiles {
  // Read on the first request: most processes never serve it.
  let names: Promise<ReadonlySet<string>> | undefined;

  async function list(): Promise<ReadonlySet<string>> {
    const [top, assets] = await Promise.all([
      readdir(folder()),
      readdir(new URL('assets/', folder())),
    ]);
    return new Set([...top, ...assets.map((name) => `assets/${name}`)]);
  }

  return {
    async read(name, accepted) {
      names ??= list();
      const known = await names.catch((error: unknown) => {
        names = undefined;
        throw error;
      });
      const type = TYPES[extname(name)];
      // Only names of the list are opened, so a path cannot leave the folder.
      if (type === undefined || !known.has(name)) return undefined;
      const encoding = ENCODINGS.find(
        (one) => accepted.includes(one.name) && known.has(name + one.suffix),
      );
      const body = await readFile(new URL(name + (encoding?.suffix ?? ''), folder()));
      return { type, body, encoding: encoding?.name };
    },
  };
}
