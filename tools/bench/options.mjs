// The options of the command.
import { isAbsolute, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** Printed by `--help` and for unknown options. */
export const USAGE = `pnpm bench:gateway [options]

  --only NAMES     only these workloads: throughput,latency,streams,dialects,many-streams,
                   two-processes,surfaces
  --quick          one short round of each, to check that everything runs; the results are not precise
  --json FILE      also write the measurements as JSON
  --markdown FILE  also write the tables into FILE, between the markers of each workload
  --node PATH      the Node for the gateway and its peers; by default the one that runs this command
  --profile        write a CPU profile of our measured processes for each workload, below tools/bench/profiles
  --database URL   a scratch database to use instead of the embedded Postgres; it is written to
  --redis URL      a scratch Redis to use instead of an embedded one
  --no-build       measure the existing build, even if sources are newer
  --help           this text
`;

// Many short rounds, so that other work on the machine affects all candidates equally.
const FULL = {
  rounds: 9,
  requestMs: 1500,
  warmupMs: 30_000,
  manyTokens: 100,
};
const QUICK = {
  rounds: 1,
  requestMs: 1000,
  warmupMs: 5000,
  manyTokens: 30,
};

/** Parses the command line of `pnpm bench:gateway`; throws an error for invalid options. */
export function readOptions(args, workloadNames) {
  const values = parseOptions(args, {
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    node: { type: 'string', default: process.execPath },
    profile: { type: 'boolean', default: false },
    database: { type: 'string' },
    redis: { type: 'string' },
  });
  const workloads = values.only?.split(',') ?? workloadNames;
  const unknown = workloads.filter((name) => !workloadNames.includes(name));
  if (unknown.length > 0) throw new Error(`unknown workload: ${unknown.join(', ')}`);
  return { ...values, workloads, size: values.quick ? QUICK : FULL };
}

/** Parses the options of one command, and those that all commands have. */
export function parseOptions(args, options) {
  const { values } = parseArgs({
    // pnpm also passes its separator.
    args: args.filter((argument) => argument !== '--'),
    options: {
      ...options,
      json: { type: 'string' },
      markdown: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.markdown !== undefined && (values.quick || values.profile)) {
    throw new Error('a quick or profiled run is not precise, so --markdown is not allowed with it');
  }
  return {
    ...values,
    json: resolveFromCaller(values.json),
    markdown: resolveFromCaller(values.markdown),
    build: !values['no-build'],
  };
}

/** Resolves a path in the caller's folder: pnpm runs scripts in another one. */
export function resolveFromCaller(file) {
  if (file === undefined || isAbsolute(file)) return file;
  return resolve(process.env.INIT_CWD ?? '.', file);
}
