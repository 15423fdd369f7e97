import { z } from 'zod';

/** The response of `GET /v1/models`. */
export const modelListSchema = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      id: z.string(),
      object: z.literal('model'),
      /** The name of the backend that serves it, or the provider of a quick-start model. */
      owned_by: z.string(),
    }),
  ),
});

export type ModelList = z.output<typeof modelListSchema>;
