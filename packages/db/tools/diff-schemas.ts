import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type { DiffTarget } from '@prisma/schema-engine-wasm/schema_engine_bg';
import { WHOLE_SCHEMA, withSchemaEngine } from './schema-engine.ts';

// The oldest version that the service supports.
const POSTGRES_VERSION = 150_000;

/** The SQL that leads from one schema to another, or from an empty database. Needs no database. */
export function diffSchemas(from: string | undefined, to: string): Promise<string> {
  return withSchemaEngine(new NoDatabase(), to, async (engine) => {
    const { stdout } = await engine.diff({
      from: from === undefined ? { tag: 'empty' } : datamodel(from),
      to: datamodel(to),
      script: true,
      exitCode: null,
      filters: WHOLE_SCHEMA,
    });
    return stdout ?? '';
  });
}

function datamodel(content: string): DiffTarget {
  return { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content }] };
}

/** Replies to the only query of the engine before it compares schemas: the server version. */
class NoDatabase extends PrismaPg {
  constructor() {
    super({});
  }

  override async connect() {
    const adapter = await super.connect();
    adapter.queryRaw = () =>
      Promise.resolve({
        columnNames: ['exists', 'version', 'numeric_version'],
        columnTypes: [ColumnTypeEnum.Boolean, ColumnTypeEnum.Text, ColumnTypeEnum.Int32],
        rows: [[true, `PostgreSQL ${POSTGRES_VERSION / 10_000}`, POSTGRES_VERSION]],
      });
    return adapter;
  }
}
