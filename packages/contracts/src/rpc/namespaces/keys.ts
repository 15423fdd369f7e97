import { z } from 'zod';
import { keySettings } from './key-settings.ts';
import { method } from '../method.ts';
import { clamped, done, keyRecord, label } from './records.ts';

const GRACE_SECS_MAX = 7 * 24 * 60 * 60;
const GRACE_SECS_DEFAULT = 24 * 60 * 60;

export const keysMethods = {
  'keys.list': method({
    auth: 'jwt',
    summary:
      'Your API keys, newest first. Without a limit at most 1,000, of which revoked ones are left out first; with one a page of all.',
    params: z.object({
      before: z.uuid().nullish().describe('only keys that are older than the one with this id'),
      limit: clamped(1, 1_000).optional(),
    }),
    result: z.array(keyRecord),
  }),
  'keys.create': method({
    auth: 'jwt',
    summary:
      'Create an API key; its secret is shown only once. With group_id, the group pays for its requests.',
    params: z.object({
      name: label,
      project: label.optional(),
      group_id: z.uuid().optional(),
      ...keySettings,
    }),
    result: keyRecord.extend({ key: z.string() }),
    hasSecretResult: true,
  }),
  'keys.update': method({
    auth: 'jwt',
    summary: 'Change the limits of a key, effective immediately; null clears one.',
    params: z.object({ key_id: z.uuid(), name: label.optional(), ...keySettings }),
    result: keyRecord,
    isExtension: true,
  }),
  'keys.rotate': method({
    auth: 'jwt',
    summary:
      'Give a key a new secret, which is shown only once. The one before works for grace_secs more; older ones stop at once.',
    params: z.object({
      key_id: z.uuid(),
      grace_secs: z.int().min(0).max(GRACE_SECS_MAX).default(GRACE_SECS_DEFAULT),
    }),
    result: keyRecord.extend({ key: z.string() }),
    hasSecretResult: true,
    isExtension: true,
  }),
  'keys.revoke': method({
    auth: 'jwt',
    summary: 'Revoke a key, effective immediately.',
    params: z.object({ key_id: z.uuid() }),
    result: done,
  }),
};
