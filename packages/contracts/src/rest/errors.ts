import { z } from 'zod';

/** The JSON body of a refused or failed REST request. */
export const restErrorSchema = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    code: z.string(),
    param: z.null(),
  }),
});

export type RestErrorBody = z.output<typeof restErrorSchema>;
