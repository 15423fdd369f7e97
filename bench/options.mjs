// What the command can be told.
import { isAbsolute, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** Printed by `--help`, and with every option that nobody knows. */
export const USAGE = `pnpm bench:gateway [options]

  --only NAMES     only these works: throughput,latency,streams,many-streams,two-processes,surfaces,idle-memory
  --quick          one short round of each: to see that everything runs, not to quote
  --json FILE      also write the measurements as JSON
  --markdown FILE  also write the tables into FILE, between the marks of each work
  --node PATH      the Node that runs the gateway and its peers; else the one that runs this
  --profile        write a CPU profile of our measured processes for each work, below bench/profiles
  --database URL   a scratch database to use instead of the embedded Postgres; it is written to
  --redis URL      a scratch Redis to use instead of an embedded one
  --no-build       measure the build that is there, even if sources are newer
  --help           this
`;

// Many short rounds rather than few long ones: what else the machine does then falls on all contestants alike.
const FULL = { rounds: 9, requestMs: 1500, warmupMs: 30_000, manyTokens: 100, idleMs: 10_000 };
const QUICK = { rounds: 1, requestMs: 1000, warmupMs: 5000, manyTokens: 30, idleMs: 3000 };

/** Reads the command line; throws a sentence when it makes no sense. */
export function readOptions(args, workNames) {
  const { values } = parseArgs({
    // pnpm passes a separator on.
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
  if (unknown.length > 0) throw new Error(`no such work: ${unknown.join(', ')}`);
  if (values.markdown !== undefined && (values.quick || values.profile)) {
    throw new Error(
      'a quick or profiled run is not to be quoted, so --markdown does not go with it',
    );
  }
  return {
    ...values,
    works,
    json: fromWhereItWasAsked(values.json),
    markdown: fromWhereItWasAsked(values.markdown),
    build: !values['no-build'],
    size: values.quick ? QUICK : FULL,
  };
}

/** A file as the caller meant it: pnpm runs scripts elsewhere than where it was called. */
export function fromWhereItWasAsked(file) {
  if (file === undefined || isAbsolute(file)) return file;
  return resolve(process.env.INIT_CWD ?? '.', file);
}
