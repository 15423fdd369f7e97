import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Asks the service and an idle process side by side, and notes how much later the service answers. */
export interface StallWatch {
  /** Runs work; returns by how many milliseconds the service was later than the idle process, at most. */
  during(healthUrl: string, work: () => Promise<void>): Promise<number>;
  close(): Promise<void>;
}

const IDLE = fileURLToPath(new URL('idle-process.mjs', import.meta.url));
const PAUSE_MS = 50;

export async function startStallWatch(): Promise<StallWatch> {
  const child = spawn(process.execPath, [IDLE], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const idleUrl = `http://127.0.0.1:${port}/`;
  return {
    async during(healthUrl, work) {
      let isWorking = true;
      let latest = 0;
      let isAsking = false;
      const ask = async (): Promise<void> => {
        if (isAsking) return;
        isAsking = true;
        const [service, idle] = await Promise.all([answerTime(healthUrl), answerTime(idleUrl)]);
        if (service !== undefined && idle !== undefined) latest = Math.max(latest, service - idle);
        isAsking = false;
      };
      const timer = setInterval(() => void ask(), PAUSE_MS);
      try {
        await work();
      } finally {
        isWorking = false;
        clearInterval(timer);
      }
      while (isAsking && !isWorking) await new Promise((resolve) => setTimeout(resolve, 5));
      return latest;
    },
    async close() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

/** Undefined when nobody listens. */
function answerTime(url: string): Promise<number | undefined> {
  const askedAt = performance.now();
  return new Promise((resolve) => {
    const asked = request(url, (response) => {
      response.resume();
      response.on('end', () => resolve(performance.now() - askedAt));
      response.on('error', () => resolve(undefined));
    });
    asked.on('error', () => resolve(undefined));
    asked.end();
  });
}
