import { z } from 'zod';
import { entrySource } from '../entry-source.ts';
import { isStorableText } from '../storable.ts';

const MODEL_CHARS_MAX = 128;

const modelName = z
  .string()
  .trim()
  .min(1)
  .max(MODEL_CHARS_MAX)
  .refine(isStorableText, 'must not contain NUL characters and lone surrogates');

/** The body of `POST /api/admin/aliases`. */
export const aliasRequestSchema = z.object({ alias: modelName, target: modelName });

/** The body of `DELETE /api/admin/aliases`. */
export const aliasRemovalSchema = aliasRequestSchema.pick({ alias: true });

/** The response to adding and removing an alias. */
export const aliasChangedSchema = z.object({
  status: z.literal('ok'),
  message: z.enum(['alias added', 'alias removed']),
});

/** The response of `GET /api/admin/aliases`, sorted by alias. */
export const aliasListSchema = z.object({
  aliases: z.array(z.object({ alias: z.string(), target: z.string(), source: entrySource })),
});
