import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** Notes how much later than an idle process the service answers. */
export interface StallWatch {
  /** Runs work; returns by how many milliseconds the service was later than the idle process, at most. */
  during(healthUrl: string, work: () => Promise<void>): Promise<number>;
  close(): Promise<void>;
}

export async function startStallWatch(): Promise<StallWatch> {
  const idle = start('idle-process.mjs');
  const [port] = (await once(createInterface({ input: idle.stdout }), 'line')) as [string];
  const watcher = start('watch-process.mjs', port);
  const answers = createInterface({ input: watcher.stdout });
  return {
    async during(healthUrl, work) {
      watcher.stdin.write(`begin ${healthUrl}\n`);
      try {
        await work();
      } catch (error) {
        await latest();
        throw error;
      }
      return latest();
    },
    async close() {
      for (const child of [watcher, idle]) {
        child.stdin.end();
        await once(child, 'exit');
      }
    },
  };

  async function latest(): Promise<number> {
    const answer = once(answers, 'line');
    watcher.stdin.write('end\n');
    const [line] = (await answer) as [string];
    return Number(line);
  }
}

function start(
  script: string,
  ...args: readonly string[]
): ChildProcessByStdio<Writable, Readable, null> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  return spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
}
