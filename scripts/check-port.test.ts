import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const project = join(import.meta.dirname, '..');

test('a port that is in use ends `npm start` before anything is installed', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => {
    taken.listen(0, '127.0.0.1', resolve);
  });
  const { port } = taken.address() as AddressInfo;
  const clone = await mkdtemp(join(tmpdir(), 'model-gateway-clone-'));
  try {
    await cp(join(project, 'scripts'), join(clone, 'scripts'), { recursive: true });
    await cp(join(project, 'package.json'), join(clone, 'package.json'));
    const { status, output } = await start(clone, port);
    expect(output).toMatch(
      new RegExp(`^Port ${port} on 127.0.0.1 is already in use.*SERVICE_PORT`),
    );
    expect(status).toBe(1);
    expect((await readdir(clone)).toSorted()).toEqual(['package.json', 'scripts']);
  } finally {
    taken.close();
    await rm(clone, { recursive: true });
  }
});

function start(folder: string, port: number): Promise<{ status: unknown; output: string }> {
  const script = join(folder, 'scripts', 'start.mjs');
  const env = { PATH: process.env['PATH'], SERVICE_PORT: String(port) };
  return new Promise((resolve) => {
    execFile(process.execPath, [script], { env }, (error, stdout, stderr) => {
      resolve({ status: error?.code, output: stdout + stderr });
    });
  });
}
