import { z } from 'zod';
import { named, operations } from './operation.ts';

const healthSchema = z.object({
  status: z.literal('ok'),
  version: z.string(),
  build_hash: z.string(),
  models: z.int(),
  providers: z.array(z.string()),
  checks: z.record(z.string(), z.enum(['ok', 'away'])),
});

const drainingSchema = z.object({ status: z.literal('draining') });

const health = { method: 'get', security: [], response: named('Health', healthSchema) } as const;

/** What orchestrators and monitors ask for. */
export const probes = operations({
  getHealth: { ...health, path: '/v1/health', summary: 'Whether the service is up.' },
  getApiHealth: { ...health, path: '/api/health', summary: 'The same as /v1/health.' },
  getPlainHealth: { ...health, path: '/health', summary: 'The same as /v1/health.' },
  getLiveness: {
    ...health,
    path: '/healthz',
    summary: 'The same as /v1/health; use it as a liveness probe.',
  },
  getReadiness: {
    ...health,
    path: '/readyz',
    summary: 'The same as /v1/health; use it as a readiness probe.',
    draining: named('Draining', drainingSchema),
  },
});
