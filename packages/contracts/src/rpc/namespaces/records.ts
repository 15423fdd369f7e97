import { z } from 'zod';
import { mediaTokens } from '../../media-tokens.ts';
import { priceRecord } from '../../price.ts';

/** After which a budget begins anew, in UTC; weeks begin on Monday, and `total` never does. */
export const BUDGET_PERIODS = ['day', 'week', 'month', 'total'] as const;

export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** A moment, RFC 3339 in UTC. */
export const timestamp = z.iso.datetime();

/** The result of a call that returns no data. */
export const done = z.object({ ok: z.literal(true) });

/** Whether a text has ASCII characters only: lower-casing others can make another address of it, as with the Kelvin sign. */
export const isAscii = (value: string): boolean => /^\p{ASCII}*$/u.test(value);

/** An email address: ASCII, trimmed, lower-cased, at most 254 characters. */
export const email = z
  .string()
  .trim()
  .refine(isAscii, 'must have ASCII characters only')
  .toLowerCase()
  .max(254)
  .pipe(z.email())
  .meta({ format: 'email' });

/** The longest password that an account can have. */
export const PASSWORD_CHARS_MAX = 128;

/** A password that an account gets. */
export const password = z.string().min(8).max(PASSWORD_CHARS_MAX);

/** Half of a character, as at the end of a text that was cut; no other program accepts it. */
const UNPAIRED = /\p{Surrogate}/gu;

/** Text that can be stored: the database accepts every character except NUL. */
export const text = (charsMax: number) =>
  z
    .string()
    .trim()
    .overwrite((value) => value.replaceAll(UNPAIRED, '\uFFFD'))
    .max(charsMax)
    .refine((value) => !value.includes('\u0000'), 'must not contain NUL characters');

/** A short name. */
export const label = text(128).min(1);

/** Text of a few sentences. */
export const description = text(2000);

/** A reference of the caller, stored in the usage row. */
export const refId = text(64);

/** A model id. */
export const modelId = text(128).min(1);

/** A whole number that is clamped to a range instead of being refused. */
export const clamped = (min: number, max: number) =>
  z
    .number()
    .refine(Number.isInteger, 'must be a whole number')
    .meta({ type: 'integer' })
    .transform((value) => Math.min(Math.max(value, min), max))
    .meta({ description: `clamped to ${min}–${max}` });

/** The largest page of a list that is a bare array. */
const LIST_MAX = 1_000;

/** How many entries a list that is a bare array has; the next ones follow with the cursor of `LIST_CURSORS`. */
export const listLimit = clamped(1, LIST_MAX).prefault(LIST_MAX);

/** An object that methods return, with its name in the reference. */
export const record = <Shape extends z.ZodRawShape>(name: string, shape: Shape) =>
  z.object(shape).meta({ id: name });

/** A user account. */
export const userRecord = record('User', {
  id: z.uuid(),
  email: z.string(),
  name: z.string(),
  is_admin: z.boolean(),
});

/** An API key, without its secret. */
export const keyRecord = record('Key', {
  id: z.uuid(),
  name: z.string(),
  key_prefix: z.string(),
  key_hint: z.string(),
  project: z.string(),
  group_id: z.uuid().nullable(),
  active: z.boolean(),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
  budget_usd: z.number().nullable(),
  budget_period: z.enum(BUDGET_PERIODS).nullable(),
  /** The usage of the current period. */
  budget_used_usd: z.number().nullable(),
  /** Null without a budget, and for a budget that never begins anew. */
  budget_resets_at: timestamp.nullable(),
  rpm: z.int().nullable(),
  tpm: z.int().nullable(),
  models: z.array(z.string()).nullable(),
  addresses: z.array(z.string()).nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  log_bodies: z.boolean().nullable(),
  cache: z.object({ ttl_secs: z.int() }).nullable(),
  /** Until then the secret before the last rotation works as well. */
  previous_until: timestamp.nullable(),
});

/** One metered request, as its owner sees it. */
export const usageRecord = record('Usage', {
  id: z.uuid(),
  model: z.string(),
  backend: z.string(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cost: z.number().nullable(),
  created_at: timestamp,
  ref_id: z.string().nullable(),
  points: z.int().nullable(),
  account_type: z.enum(['user', 'group']).nullable(),
  key_id: z.uuid().nullable(),
  project: z.string().nullable(),
  user_id: z.uuid(),
  group_id: z.uuid().nullable(),
  /** The name of the backend that served it. Like the fields below null in rows of earlier versions. */
  upstream: z.string().nullable(),
  /** The part of the prompt that the upstream read from its cache, if it reported that. */
  cached_tokens: z.int().nullable(),
  latency_ms: z.int().nullable(),
  /** Until the first chunk of a streamed response. */
  first_token_ms: z.int().nullable(),
  /** 200; 499 when the client left before the end, 502 when the upstream failed in the middle. */
  status: z.int().nullable(),
  /** The part of the prompt that the upstream wrote to its cache, if it reported that. */
  cache_write_tokens: z.int().nullable(),
  /** Which of the tokens are no text, if the upstream reported some; `cached_audio_input` is a part of `audio_input`. */
  media_tokens: mediaTokens.nullable(),
  /** Generated images, and the length of the audio, where they are priced. */
  images: z.int().nullable(),
  audio_seconds: z.number().nullable(),
  /** The price that the cost was computed with, and its source. */
  price: priceRecord.nullable(),
  /** Whether the gateway had stored the answer, which then costs nothing. */
  cached: z.boolean(),
});

/** The role that a member can be given. */
export const memberRole = z.enum(['admin', 'member']);

/** A group, as one of its members sees it. */
export const groupRecord = record('Group', {
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  /** Null for a caller who is not a member. */
  my_role: z.enum(['owner', 'admin', 'member']).nullable(),
  member_count: z.int(),
  enforce_model_allowlist: z.boolean(),
  rpm_ceiling: z.int().nullable(),
  created_at: timestamp,
});

/** A member of a group; `user_id` is the email. */
export const memberRecord = record('Member', {
  user_id: z.string(),
  email: z.string(),
  name: z.string(),
  role: memberRole,
  cost_multiplier: z.number(),
  is_active: z.boolean(),
  is_owner: z.boolean(),
  joined_at: timestamp,
});

/** A wallet or pool with its newest entries. */
export const ledgerRecord = record('Ledger', {
  balance: z.int(),
  entries: z.array(
    z.object({
      id: z.string(),
      delta: z.int(),
      balance_after: z.int(),
      kind: z.enum(['topup', 'allocate', 'usage', 'refund']),
      note: z.string().nullable(),
      ref: z.string().nullable(),
      created_at: timestamp,
    }),
  ),
});

/** Where the video of a finished job is. */
export const videoResult = record('VideoResult', {
  url: z.string(),
  format: z.string().optional(),
  width: z.int().optional(),
  height: z.int().optional(),
  duration_seconds: z.number().optional(),
  expires_at: z.string().optional(),
});

export type VideoResult = z.output<typeof videoResult>;
