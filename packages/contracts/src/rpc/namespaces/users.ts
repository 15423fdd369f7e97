import { z } from 'zod';
import { method } from '../method.ts';
import { clamped, label, record, text, timestamp } from './records.ts';

const NAME_CHARS_MAX = 128;
const SEARCH_CHARS_MAX = 254;
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

const oneUser = z.object({ user_id: z.uuid() });

const account = record('Account', {
  id: z.uuid(),
  email: z.string(),
  name: z.string(),
  is_admin: z.boolean(),
  active: z.boolean(),
  provider_bound: z.boolean().describe('whether it belongs to a person of the identity provider'),
  provider_claim: z
    .boolean()
    .describe('whether the person of the provider who has its email may take it over'),
  tier: z.string(),
  created_at: timestamp,
  /** Null when that was more than 30 days ago. */
  last_sign_in_at: timestamp.nullable(),
  active_keys: z.int(),
  /** Set when the person was removed; the account stays for the bill. */
  erased_at: timestamp.nullable(),
});

export const usersMethods = {
  'users.list': method({
    auth: 'admin-or-admin-token',
    summary: 'All accounts, the oldest first.',
    params: z.object({
      search: text(SEARCH_CHARS_MAX).optional().describe('a part of the email or name'),
      active: z.boolean().optional(),
      is_admin: z.boolean().optional(),
      after: z.uuid().nullish().describe('only accounts after the one with this id'),
      limit: clamped(1, LIMIT_MAX).prefault(LIMIT_DEFAULT),
    }),
    result: z.object({
      users: z.array(account),
      has_more: z.boolean(),
      after: z.uuid().nullable().describe('for the next call, if there are more'),
    }),
    isExtension: true,
  }),
  'users.get': method({
    auth: 'admin-or-admin-token',
    summary: 'One account.',
    params: oneUser,
    result: account,
    isExtension: true,
  }),
  'users.update': method({
    auth: 'admin-or-admin-token',
    summary:
      'Change the given fields of an account. Deactivating ends its sign-ins and stops its keys. The last active admin stays one.',
    params: oneUser.extend({
      tier: label.optional(),
      is_admin: z.boolean().optional(),
      active: z.boolean().optional(),
      name: text(NAME_CHARS_MAX).optional(),
      provider_claim: z
        .boolean()
        .optional()
        .describe(
          'let the person of the identity provider who has its email take it over at the next sign-in: password, sign-ins, reset link, keys and memberships end',
        ),
    }),
    result: account,
    isExtension: true,
  }),
  'users.reset_link': method({
    auth: 'admin-or-admin-token',
    summary:
      'A link with which the user sets a new password, once and within an hour. It replaces an earlier one.',
    params: oneUser,
    result: z.object({
      /** Without SERVICE_PUBLIC_URL, only the path. */
      link: z.string(),
      token: z.string(),
      /** Whether the link is sent to the user by mail too. */
      mailed: z.boolean(),
      expires_at: timestamp,
    }),
    hasSecretResult: true,
    isExtension: true,
  }),
  'users.erase': method({
    auth: 'admin-or-admin-token',
    summary:
      'Remove a person: email, name, conversations, memory, keys and sign-ins. The usage and the ledger stay for the bill. It cannot be undone.',
    params: oneUser,
    result: z.object({
      ok: z.literal(true),
      /** `failed` when the memory service did not answer: repeat the call. */
      memory: z.enum(['removed', 'none', 'failed']),
    }),
    isExtension: true,
  }),
};
