import { z } from 'zod';
import type { Operation } from './operation.ts';

export const healthSchema = z.object({
  status: z.literal('ok'),
  version: z.string(),
  build_hash: z.string(),
  models: z.int(),
  providers: z.array(z.string()),
  checks: z.record(z.string(), z.enum(['ok', 'away'])),
});

export const drainingSchema = z.object({ status: z.literal('draining') });

const health = { method: 'get', security: [], response: healthSchema } as const;

/** What orchestrators and monitors ask for. */
export const probeOperations: readonly Operation[] = [
  { ...health, id: 'getHealth', path: '/v1/health', summary: 'Whether the service is up.' },
  { ...health, id: 'getApiHealth', path: '/api/health', summary: 'The same as /v1/health.' },
  { ...health, id: 'getPlainHealth', path: '/health', summary: 'The same as /v1/health.' },
  {
    ...health,
    id: 'getLiveness',
    path: '/healthz',
    summary: 'The same as /v1/health; use it as a liveness probe.',
  },
  {
    ...health,
    id: 'getReadiness',
    path: '/readyz',
    summary: 'The same as /v1/health; use it as a readiness probe.',
    draining: drainingSchema,
  },
];
