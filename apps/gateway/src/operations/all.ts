import { administration } from './administration.ts';
import { files } from './files.ts';
import { inference } from './inference.ts';
import type { Operation } from './operation.ts';
import { probes } from './probes.ts';

/** All operations of the gateway. */
export const OPERATIONS: readonly Operation[] = Object.values({
  ...inference,
  ...probes,
  ...administration,
});

/** All operations of the HTTP surface, whichever process has them. */
export const DESCRIBED_OPERATIONS: readonly Operation[] = [...OPERATIONS, ...Object.values(files)];
