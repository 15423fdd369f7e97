import { z } from 'zod';
import { boundedArray } from '../bounded-array.ts';

const NAMES_MAX = 100;
const FALLBACKS_MAX = 10;

const names = boundedArray(z.string(), { max: NAMES_MAX });

/** Which backends may serve a request, by their names or kinds. */
export const providerSchema = z.union(
  [
    z.string(),
    z.object({
      /** These are tried first, in this order. */
      order: names.nullish(),
      /** No others. */
      only: names.nullish(),
      /** None of these. */
      ignore: names.nullish(),
      /** False: only those of `order`; without `order`, no second backend after a failure. */
      allow_fallbacks: z.boolean().nullish(),
    }),
  ],
  {
    error:
      'must be the name or kind of a backend, or an object with order, only, ignore (arrays of texts) and allow_fallbacks (true or false)',
  },
);

export type ProviderHint = z.output<typeof providerSchema>;

/** Models that are tried in this order when the requested one cannot answer. */
export const fallbackModelsSchema = boundedArray(z.string().min(1), { max: FALLBACKS_MAX });
