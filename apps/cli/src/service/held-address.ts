import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isObject } from './rest.ts';

/** The address that a service listens on. */
export interface HeldAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Where the service listens that holds a data directory now; undefined without one. A file that a killed process left behind
 * does not count: its lock belongs to no running process, and another program may have the port.
 */
export async function readHeldAddress(dataDir: string): Promise<HeldAddress | undefined> {
  const [lock, text] = await Promise.all([
    readText(join(dataDir, 'lock')),
    readText(join(dataDir, 'address')),
  ]);
  if (lock === undefined || text === undefined) return undefined;
  const address = parsed(text);
  if (!isObject(address) || address['lock'] !== lock || !(await isHeld(lock))) return undefined;
  const { host, port } = address;
  return typeof host === 'string' && typeof port === 'number' ? { host, port } : undefined;
}

/** Whether the process that wrote a lock still runs: its id and its start time. */
async function isHeld(lock: string): Promise<boolean> {
  const [pid = '', startedAt = ''] = lock.split('\n');
  return /^\d+$/.test(pid) && startedAt !== '' && (await startTimeOf(pid)) === startedAt;
}

async function startTimeOf(pid: string): Promise<string | undefined> {
  if (process.platform !== 'linux') {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', pid]).catch(() => ({
      stdout: '',
    }));
    return stdout.trim();
  }
  const stat = await readText(`/proc/${pid}/stat`);
  // The second field is the name in parentheses and may contain anything.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields?.[0] === 'Z' || fields?.[0] === 'X' ? undefined : fields?.[19];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const readText = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch(() => undefined);
