import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

const kernel = new URL('../index.ts', import.meta.url).href;

/** Logs as many lines as each line of its standard input says, and responds on descriptor 3. */
const SCRIPT = `
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createLog } from ${JSON.stringify(kernel)};
const log = createLog({ level: 'info', app: 'test' });
const request = { requestId: 'r', method: 'GET', route: '/', status: 200, durationMs: 1, isProbe: false };
let index = 0;
for await (const count of createInterface({ input: process.stdin })) {
  for (let left = Number(count); left > 0; left -= 1) {
    log.info({ index: index++ }, 'line');
    log.request(request);
  }
  await new Promise(setImmediate);
  writeSync(3, 'logged\\n');
}
`;

test('a process whose standard output is full goes on, and writes what it kept when there is room', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'standard-output-'));
  try {
    const file = join(folder, 'log');
    // A file cannot be longer than this limit, which is like a disk that is full.
    const limited = `ulimit -f 8; exec "$0" --input-type=module -e "$1" 3>&1 >> "$2"`;
    const child = spawn('bash', ['-c', limited, process.execPath, SCRIPT, file]);
    const stderr = text(child.stderr);
    const answers = createInterface({ input: child.stdout });
    const ask = async (count: number) => {
      child.stdin.write(`${count}\n`);
      await once(answers, 'line');
    };
    await ask(40);
    const before = await readFile(file, 'utf8');
    await truncate(file);
    await ask(1);
    const after = await readFile(file, 'utf8');
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await stderr).toBe(
      'The log cannot be written to standard output: EFBIG: file too large, write\n',
    );
    const lines = (before + after).trimEnd().split('\n');
    const indexes = lines.flatMap((line) => {
      const { msg, index } = JSON.parse(line) as { msg: string; index: number };
      return msg === 'line' ? [index] : [];
    });
    expect(before).toHaveLength(8_192);
    expect(indexes).toEqual(Array.from({ length: 41 }, (_none, index) => index));
  } finally {
    await rm(folder, { recursive: true });
  }
});
