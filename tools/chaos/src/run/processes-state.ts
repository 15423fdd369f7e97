import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Deployment } from '../deployment/deployment.ts';

/** What one process has in use. */
export interface ProcessState {
  readonly name: string;
  readonly rssMb: number;
  readonly handles: number;
  readonly sockets: number;
}

/** The processes that run now, from the files of the system. */
export function readProcessStates({ processes }: Deployment): readonly ProcessState[] {
  return [...processes].flatMap(([name, { pid }]) => {
    if (pid === undefined) return [];
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const rssMb = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024;
    const links = readdirSync(`/proc/${pid}/fd`).map((handle) =>
      linkOf(`/proc/${pid}/fd/${handle}`),
    );
    const sockets = links.filter((link) => link.startsWith('socket:')).length;
    return [{ name, rssMb, handles: links.length, sockets }];
  });
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed meanwhile.
    return '';
  }
}

const METRIC = (name: string): RegExp => new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm');

/** The sum of a metric in one process. */
export async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return [...text.matchAll(METRIC(name))].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** The sum of a metric over all processes that serve metrics. */
export async function sumMetric({ processes }: Deployment, name: string): Promise<number> {
  let sum = 0;
  for (const { url, name: app } of processes.values())
    if (url !== undefined && app !== 'node') sum += await readMetric(url, name);
  return sum;
}
