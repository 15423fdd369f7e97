import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine, SchemaFilter } from '@prisma/schema-engine-wasm/schema_engine_bg';

// Node has it, but its type is only part of the DOM library.
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Readonly<Record<string, unknown>>,
  ): Promise<{
    readonly instance: { readonly exports: { readonly __wbindgen_start: () => void } };
  }>;
};

/** Prisma's own schema engine as WebAssembly, so that nothing has to be downloaded. Only development uses it: it writes
 * migrations and compares them with the schema. */
export async function withSchemaEngine<Result>(
  factory: SqlMigrationAwareDriverAdapterFactory,
  schema: string,
  work: (engine: SchemaEngine) => Promise<Result>,
): Promise<Result> {
  const bindings = await (loaded ??= loadBindings());
  const engine = await bindings.SchemaEngine.new(
    { datamodels: [['schema.prisma', schema]] },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(factory),
  );
  try {
    return await work(engine);
  } finally {
    engine.free();
  }
}

/** The schema manages all tables of the database. */
export const WHOLE_SCHEMA: SchemaFilter = { externalTables: [], externalEnums: [] };

type Bindings = typeof import('@prisma/schema-engine-wasm/schema_engine_bg');

// The bindings support one instance per process: a second one would replace the memory of the first.
let loaded: Promise<Bindings> | undefined;

async function loadBindings(): Promise<Bindings> {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const glue = createRequire(import.meta.url).resolve(
    '@prisma/schema-engine-wasm/schema_engine_bg',
  );
  const bytes = await readFile(join(dirname(glue), 'schema_engine_bg.wasm'));
  const imports = Object.fromEntries(
    Object.entries(bindings).map(([name, value]) => [
      name,
      name.startsWith('__wbg_setTimeout') ? setQuietTimeout : value,
    ]),
  );
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': imports });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return bindings;
}

// The engine never clears the timer of a lock that it got, which would keep a finished process alive for ten seconds.
function setQuietTimeout(callback: () => void, milliseconds: number): NodeJS.Timeout {
  return setTimeout(callback, milliseconds).unref();
}
