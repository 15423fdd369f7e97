import { z } from 'zod';

/** How old a stored answer may be: at most a day. */
export const ANSWER_TTL_SECS_MAX = 86_400;

/** The exact cache of a key or a route. */
export const answerCache = z.object({ ttl_secs: z.int().min(1).max(ANSWER_TTL_SECS_MAX) });
