import { availableParallelism } from 'node:os';
import { setting, withDefault } from '@model-gateway/kernel';
import { z } from 'zod';

const PROCESSES_MAX = 64;

/** How many processes serve. */
export const processesSetting = setting(
  'SERVICE_PROCESSES',
  withDefault(
    z
      .string()
      .regex(/^(?:auto|[1-9]\d?)$/, `auto, or a number from 1 to ${PROCESSES_MAX}`)
      .transform((text) => (text === 'auto' ? availableParallelism() : Number(text)))
      .refine((count) => count <= PROCESSES_MAX, `auto, or a number from 1 to ${PROCESSES_MAX}`),
    1,
  ),
  {
    description:
      'How many gateway processes of `npm start` share the port; `auto`: one for each processor. More than one need `REDIS_URL`, or a `redis-server` on the PATH.',
    defaultText: '1',
  },
);
