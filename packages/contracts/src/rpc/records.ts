import { z } from 'zod';

/** A person, as the RPC plane shows one. */
const userRecord = z.object({
  id: z.uuid(),
  email: z.string(),
  name: z.string(),
  is_admin: z.boolean(),
});

/** What signing in answers. */
export const signedIn = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  user: userRecord,
});

/** One metered request, as its owner sees it. */
export const usageRecord = z.object({
  id: z.uuid(),
  model: z.string(),
  backend: z.string(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cost: z.number().nullable(),
  created_at: z.iso.datetime(),
  ref_id: z.string().nullable(),
  points: z.int().nullable(),
  account_type: z.enum(['user', 'group']).nullable(),
  key_id: z.uuid().nullable(),
  project: z.string().nullable(),
});
