import { z } from 'zod';
import { anyObject } from '../../open-object.ts';
import { method } from '../method.ts';
import { modelId } from './records.ts';

export const engineMethods = {
  'engine.invoke': method({
    auth: 'admin',
    summary: 'Call a method of the engine that serves a model and return its raw response.',
    params: z.object({
      model: modelId,
      method: z.string().min(1).max(128),
      params: anyObject().optional(),
    }),
    passesParams: true,
    result: z.unknown(),
  }),
};
