// All workloads, in the order in which they are measured.
import { dialects } from './dialects.mjs';
import { latency } from './latency.mjs';
import { manyStreams } from './many-streams.mjs';
import { streams } from './streams.mjs';
import { surfaces } from './surfaces.mjs';
import { throughput } from './throughput.mjs';
import { twoProcesses } from './two-processes.mjs';

export const WORKLOADS = [
  throughput,
  latency,
  streams,
  dialects,
  manyStreams,
  twoProcesses,
  surfaces,
];
