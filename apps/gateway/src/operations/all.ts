import { administrationOperations } from './administration.ts';
import { fileOperations } from './files.ts';
import { inferenceOperations } from './inference.ts';
import type { Operation } from './operation.ts';
import { probeOperations } from './probes.ts';

/** All operations of the gateway. */
export const OPERATIONS: readonly Operation[] = [
  ...inferenceOperations,
  ...probeOperations,
  ...administrationOperations,
];

/** All operations of the HTTP surface, whichever process has them. */
export const DESCRIBED_OPERATIONS: readonly Operation[] = [...OPERATIONS, ...fileOperations];
