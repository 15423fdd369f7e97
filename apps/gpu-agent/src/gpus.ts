import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { AgentGpu } from '@model-gateway/contracts';
import { errorCode } from '@model-gateway/kernel';

/** Reads what the GPUs of this machine do now. */
export type ReadGpus = () => Promise<readonly AgentGpu[]>;

const run = promisify(execFile);
const QUERY = [
  '--query-gpu=name,memory.total,memory.used,utilization.gpu',
  '--format=csv,noheader,nounits',
];
const TIMEOUT_MS = 5_000;
/** A machine without the tool does not get GPUs every ten seconds. */
const LOOK_AGAIN_MS = 5 * 60 * 1_000;

/** Asks `nvidia-smi`; a machine without it has no GPUs that we know of, and serves on its CPU. */
export function createGpuReader(env: Readonly<Record<string, string>>): ReadGpus {
  let missingUntil = 0;
  return async () => {
    if (performance.now() < missingUntil) return [];
    try {
      const { stdout } = await run('nvidia-smi', QUERY, { env: { ...env }, timeout: TIMEOUT_MS });
      return parseGpus(stdout);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') missingUntil = performance.now() + LOOK_AGAIN_MS;
      return [];
    }
  };
}

/** The GPUs in the answer of `nvidia-smi`; what a driver does not tell counts as 0. */
export function parseGpus(text: string): readonly AgentGpu[] {
  return text
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.trim()))
    .filter((cells) => cells.length === 4)
    .map(([name = '', total, used, utilization]) => ({
      name: name.slice(0, 128),
      memory_total_mb: numberOf(total),
      memory_used_mb: numberOf(used),
      utilization: Math.min(100, numberOf(utilization)),
    }));
}

function numberOf(text: string | undefined): number {
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : 0;
}
