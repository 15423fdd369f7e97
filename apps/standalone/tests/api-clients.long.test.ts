import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  preparedDataDir,
  rpcCall,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { FETCH_PROGRAM, RPC_PROGRAM, TYPED_PROGRAM } from './client-programs.ts';
import { chatOnce, startStandalone } from './standalone.ts';

// The tools that people make clients with take the descriptions of both APIs. `npm run test:long` installs them.

const run = promisify(execFile);
const TOOLS = join(import.meta.dirname, '..', '..', '..', 'api-clients');
const DIST = join(TOOLS, 'dist');
const OPENAPI = join(DIST, 'openapi.json');
const OPENRPC = join(DIST, 'openrpc.json');
const GENERATED_RPC = join(DIST, 'rpc', 'client', 'typescript', 'src', 'index.ts');

const COMPILER_OPTIONS = {
  strict: true,
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
  esModuleInterop: true,
  skipLibCheck: true,
};

let folder: TemporaryFolder;
let standalone: TestProcess;
let key: string;

beforeAll(async () => {
  folder = await preparedDataDir();
  standalone = await startStandalone(folder.path);
  ({ key } = await chatOnce(standalone.url, 'you@example.com'));
  await rm(DIST, { recursive: true, force: true });
  await mkdir(DIST);
  await writeFile(OPENAPI, await (await fetch(`${standalone.url}/openapi.json`)).text());
  const { result } = await rpcCall(standalone.url, 'rpc.discover', {});
  await writeFile(OPENRPC, JSON.stringify(result));
});
afterAll(async () => {
  await standalone.stop();
  await folder.remove();
});

/** Runs a program in the folder of the tools; it rejects with the output if the program fails. */
const runIn = async (program: string, args: readonly string[], env = {}): Promise<string> => {
  // They would report their use to other hosts.
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { PATH = '' } = process.env;
  const options = { cwd: TOOLS, env: { PATH, HOME: folder.path, ...quiet, ...env } };
  return (await run(program, args, options)).stdout;
};
const tool = (name: string, ...args: readonly string[]): Promise<string> =>
  runIn(join(TOOLS, 'node_modules', '.bin', name), args);
const node = (script: string, args: readonly string[] = [], env = {}): Promise<string> =>
  runIn(process.execPath, [script, ...args], env);

/** Checks the types of a program, and compiles it unless it has a bundler. */
async function compile(name: string, program: string, hasBundler = false): Promise<void> {
  await writeFile(join(DIST, `${name}.ts`), program);
  const modules = hasBundler
    ? { module: 'esnext', moduleResolution: 'bundler', noEmit: true }
    : { module: 'nodenext', moduleResolution: 'nodenext', resolveJsonModule: true };
  const config = {
    compilerOptions: { ...COMPILER_OPTIONS, ...modules },
    files: [`${name}.ts`],
  };
  await writeFile(join(DIST, `${name}.tsconfig.json`), JSON.stringify(config));
  await tool('tsc', '-p', join(DIST, `${name}.tsconfig.json`));
}

test('swagger-parser and openapi-schema-validator find no error, and Prism answers every operation', async () => {
  const statuses = JSON.parse(await node('check-openapi.mjs', [OPENAPI])) as Record<string, number>;
  expect(Object.keys(statuses).length).toBeGreaterThan(30);
  expect(Object.entries(statuses).filter(([, status]) => status !== 200)).toEqual([]);
});

test('Redocly finds no error', async () => {
  const report = await tool('redocly', 'lint', OPENAPI, '--format=json');
  expect(JSON.parse(report)).toMatchObject({ totals: { errors: 0 } });
});

test('openapi-typescript makes types by which openapi-fetch calls the service', async () => {
  await tool('openapi-typescript', OPENAPI, '-o', join(DIST, 'openapi.d.ts'));
  await compile('fetch-program', FETCH_PROGRAM);
  const { url } = standalone;
  const answer = await node(join(DIST, 'fetch-program.js'), [], { URL: url, KEY: key });
  expect(JSON.parse(answer)).toEqual({ finished: 'stop', code: 'model_not_found' });
});

test('hey-api and swagger-typescript-api make clients with types', async () => {
  await tool('openapi-ts', '-i', OPENAPI, '-o', join(DIST, 'hey-api'), '--silent');
  const output = join(DIST, 'swagger-typescript-api');
  await tool('swagger-typescript-api', 'generate', '-p', OPENAPI, '-o', output, '-n', 'api.ts');
  await compile('typed-program', TYPED_PROGRAM, true);
});

test('the generator of OpenRPC makes a client that calls the service', async () => {
  await tool(
    'open-rpc-generator',
    'generate',
    '-t',
    'client',
    '-l',
    'typescript',
    '-n',
    'gatewayRpc',
    '-d',
    OPENRPC,
    '-o',
    join(DIST, 'rpc'),
  );
  const generated = await readFile(GENERATED_RPC, 'utf8');
  // It does not quote names with a dot.
  const quoted = generated.replaceAll(/^( {2}public )([a-z_]+(?:\.[a-z_]+)+): /gm, '$1"$2": ');
  await writeFile(join(DIST, 'rpc.ts'), quoted);
  await compile('rpc-program', RPC_PROGRAM);
  const answer = await node(join(DIST, 'rpc-program.js'), [], { URL: standalone.url });
  expect(JSON.parse(answer)).toEqual({ deployed: 0 });
});
