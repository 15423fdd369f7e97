import { z } from 'zod';

/** The JSON body of a refused or failed REST request. */
export const restErrorSchema = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    code: z.string().nullable(),
    param: z.string().nullable(),
    /** The page that explains the code, where the service knows its public address. */
    doc: z.string().optional(),
    /** The error of the upstream that caused this one, with the fields that it had. */
    upstream: z
      .object({
        status: z.int(),
        message: z.string().optional(),
        type: z.string().optional(),
        code: z.string().optional(),
        param: z.string().optional(),
      })
      .optional(),
  }),
});

export type RestErrorBody = z.output<typeof restErrorSchema>;
