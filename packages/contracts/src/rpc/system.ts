import { z } from 'zod';
import { method } from './method.ts';

export const systemMethods = {
  'system.status': method({
    auth: 'public',
    summary: 'Counts of nodes, models and requests, and the uptime.',
    params: z.object({}),
    result: z.object({
      agents_online: z.int(),
      gpu_nodes: z.int(),
      models_deployed: z.int(),
      requests_total: z.int(),
      requests_per_minute: z.int(),
      uptime_seconds: z.int(),
    }),
  }),
};
