// The options of the command.
import { isAbsolute, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** Printed by `--help` and for unknown options. */
export const USAGE = `pnpm bench:gateway [options]

  --only NAMES     only these workloads: throughput,latency,streams,many-streams,two-processes,surfaces,idle-memory
  --quick          one short round of each, to check that everything runs; the results are not precise
  --json FILE      also write the measurements as JSON
  --markdown FILE  also write the tables into FILE, between the markers of each workload
  --node PATH      the Node for the gateway and its peers; by default the one that runs this command
  --profile        write a CPU profile of our measured processes for each workload, below bench/profiles
  --database URL   a scratch database to use instead of the embedded Postgres; it is written to
  --redis URL      a scratch Redis to use instead of an embedded one
  --no-build       measure the existing build, even if sources are newer
  --help           this text
`;

// Many short rounds, so that other work on the machine affects all contestants equally.
const FULL = { rounds: 9, requestMs: 1500, warmupMs: 30_000, manyTokens: 100, idleMs: 10_000 };
const QUICK = { rounds: 1, requestMs: 1000, warmupMs: 5000, manyTokens: 30, idleMs: 3000 };

/** Parses the command line; throws an error for invalid options. */
export function readOptions(args, workNames) {
  const { values } = parseArgs({
    // pnpm also passes its separator.
    args: args.filter((argument) => argument !== '--'),
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      markdown: { type: 'string' },
      node: { type: 'string', default: process.execPath },
      profile: { type: 'boolean', default: false },
      database: { type: 'string' },
      redis: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const works = values.only?.split(',') ?? workNames;
  const unknown = works.filter((name) => !workNames.includes(name));
  if (unknown.length > 0) throw new Error(`unknown workload: ${unknown.join(', ')}`);
  if (values.markdown !== undefined && (values.quick || values.profile)) {
    throw new Error('a quick or profiled run is not precise, so --markdown is not allowed with it');
  }
  return {
    ...values,
    works,
    json: resolveFromCaller(values.json),
    markdown: resolveFromCaller(values.markdown),
    build: !values['no-build'],
    size: values.quick ? QUICK : FULL,
  };
}

/** Resolves a path in the caller's folder: pnpm runs scripts in another one. */
export function resolveFromCaller(file) {
  if (file === undefined || isAbsolute(file)) return file;
  return resolve(process.env.INIT_CWD ?? '.', file);
}
