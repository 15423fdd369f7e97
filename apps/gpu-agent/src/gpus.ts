import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { AgentGpu } from '@model-gateway/contracts';
import { errorCode } from '@model-gateway/kernel';

/** Reads the current state of the GPUs of this machine. */
export type ReadGpus = () => Promise<readonly AgentGpu[]>;

const run = promisify(execFile);
const QUERY = [
  '--query-gpu=name,memory.total,memory.used,utilization.gpu',
  '--format=csv,noheader,nounits',
];
const TIMEOUT_MS = 5_000;
/** Where the tool is missing, it is not tried again for every heartbeat. */
const RETRY_MS = 5 * 60 * 1_000;

/** Runs `nvidia-smi`; a machine without it counts as one without GPUs. */
export function createGpuReader(env: Readonly<Record<string, string>>): ReadGpus {
  let missingUntil = 0;
  let reading: ReturnType<ReadGpus> | undefined;

  async function read(): ReturnType<ReadGpus> {
    try {
      const { stdout } = await run('nvidia-smi', QUERY, { env: { ...env }, timeout: TIMEOUT_MS });
      return parseGpus(stdout);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') missingUntil = performance.now() + RETRY_MS;
      return [];
    }
  }

  return async () => {
    if (performance.now() < missingUntil) return [];
    // A slow driver must not collect one process for each heartbeat.
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

/** The GPUs in the output of `nvidia-smi`; a missing value counts as 0. */
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
