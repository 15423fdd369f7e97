import { z } from 'zod';
import { method } from '../method.ts';
import { record } from './records.ts';

/** A setting as it applies in the process that answers. */
const effectiveSetting = record('EffectiveSetting', {
  name: z.string(),
  description: z.string(),
  /** Null for a secret, and for one that is not set. */
  value: z.string().nullable(),
  is_secret: z.boolean(),
  is_set: z.boolean(),
  /** `file` for what was generated into the data directory. */
  source: z.enum(['default', 'environment', 'file']),
});

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
  'system.settings': method({
    auth: 'admin-or-admin-token',
    summary:
      'The settings of the process that answers, and where each comes from; secrets without their value.',
    isExtension: true,
    params: z.object({}),
    result: z.object({ settings: z.array(effectiveSetting) }),
  }),
};
