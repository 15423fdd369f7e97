import { z } from 'zod';
import { method } from '../method.ts';
import {
  description,
  done,
  email,
  groupRecord,
  label,
  listLimit,
  ledgerRecord,
  memberRecord,
  memberRole,
  modelId,
  record,
  text,
  timestamp,
} from './records.ts';

const MODELS_MAX = 1000;
const MULTIPLIER_MAX = 1000;
const RPM_MAX = 1_000_000;
const USES_MAX = 10_000;
const TTL_SECS_DEFAULT = 604_800;
const TTL_SECS_MAX = 31_536_000;
const POINTS_MAX = 1_000_000_000_000;
const NOTE_CHARS_MAX = 500;
const IDEMPOTENCY_KEY_CHARS_MAX = 128;

const inGroup = z.object({ group_id: z.uuid() });
const member = inGroup.extend({ user_id: email });
const memberPage = {
  after: email.nullish().describe('only members after the one with this email'),
  limit: listLimit,
};
const costMultiplier = z.number().min(0).max(MULTIPLIER_MAX);
const modelIds = inGroup.extend({ model_ids: z.array(modelId).min(1).max(MODELS_MAX) });
const modelRules = z.object({ allowed: z.array(z.string()), denied: z.array(z.string()) });
const points = z.int().min(1).max(POINTS_MAX);
const movement = {
  points,
  note: text(NOTE_CHARS_MAX).optional(),
  idempotency_key: text(IDEMPOTENCY_KEY_CHARS_MAX).min(1).optional(),
};

export const groupMethods = {
  'group.create': method({
    auth: 'jwt-or-admin-token',
    summary: 'Create a group that you own; with an id, repeating the call changes nothing.',
    params: z.object({ name: label, description: description.optional(), id: z.uuid().optional() }),
    result: groupRecord,
  }),
  'group.list': method({
    auth: 'jwt-or-admin-token',
    summary: 'Your groups, the oldest first, at most 1,000 at a time.',
    params: z.object({
      after: z.uuid().nullish().describe('only groups after the one with this id'),
      limit: listLimit,
    }),
    result: z.array(groupRecord),
  }),
  'group.get': method({
    auth: 'jwt',
    summary: 'A group and its active members, at most 1,000 at a time.',
    params: inGroup.extend(memberPage),
    result: groupRecord.extend({
      members: z.array(memberRecord),
      has_more: z.boolean().describe('there are more members'),
      after: z.string().nullable().describe('for the next call, if there are more members'),
    }),
  }),
  'group.update': method({
    auth: 'jwt',
    summary: 'Change a group (group admins).',
    params: inGroup.extend({
      name: label.optional(),
      description: description.optional(),
      enforce_model_allowlist: z.boolean().optional(),
      rpm_ceiling: z.int().min(0).max(RPM_MAX).nullable().optional(),
    }),
    result: groupRecord,
  }),
  'group.delete': method({
    auth: 'jwt',
    summary: 'Delete a group (group owner). Its keys become personal keys.',
    params: inGroup,
    result: done,
  }),
  'group.members.list': method({
    auth: 'jwt',
    summary: 'The active members of a group, at most 1,000 at a time (group admins).',
    params: inGroup.extend(memberPage),
    result: z.array(memberRecord),
  }),
  'group.members.add': method({
    auth: 'jwt',
    summary: 'Add a user to a group, or change an existing member (group admins).',
    params: inGroup.extend({
      email,
      role: memberRole.optional(),
      cost_multiplier: costMultiplier.optional(),
    }),
    result: memberRecord,
  }),
  'group.members.update': method({
    auth: 'jwt',
    summary: 'Change, deactivate or reactivate a member (group admins).',
    params: member.extend({
      role: memberRole.optional(),
      cost_multiplier: costMultiplier.optional(),
      is_active: z.boolean().optional(),
    }),
    result: memberRecord,
  }),
  'group.members.remove': method({
    auth: 'jwt',
    summary: 'Remove a member and revoke their keys of this group (group admins).',
    params: member,
    result: done,
  }),
  'group.invite.create': method({
    auth: 'jwt',
    summary: 'Create an invitation; its token is shown only once (group admins).',
    params: inGroup.extend({
      role: memberRole.default('member'),
      email: email.optional(),
      max_uses: z.int().min(1).max(USES_MAX).default(1),
      ttl_secs: z.int().min(1).max(TTL_SECS_MAX).default(TTL_SECS_DEFAULT),
    }),
    result: record('Invitation', {
      id: z.uuid(),
      token: z.string(),
      group_id: z.uuid(),
      role: memberRole,
      email: z.string().nullable(),
      max_uses: z.int(),
      uses: z.int(),
      expires_at: timestamp,
    }),
    hasSecretResult: true,
  }),
  'group.invite.accept': method({
    auth: 'jwt',
    summary: 'Join a group with an invitation.',
    params: z.object({ token: z.string().max(256) }),
    result: groupRecord,
  }),
  'group.models.list': method({
    auth: 'jwt',
    summary: 'The model rules of a group (group admins).',
    params: inGroup,
    result: modelRules,
  }),
  'group.models.allow': method({
    auth: 'jwt',
    summary: 'Allow models in a group; removes a deny rule for the same models (group admins).',
    params: modelIds,
    result: modelRules,
  }),
  'group.models.deny': method({
    auth: 'jwt',
    summary: 'Deny models in a group; a deny rule overrides an allow rule (group admins).',
    params: modelIds,
    result: modelRules,
  }),
  'group.credits.topup': method({
    auth: 'admin',
    summary: 'Add points to the pool of a group.',
    params: inGroup.extend(movement),
    result: z.object({ balance: z.int() }),
  }),
  'group.credits.balance': method({
    auth: 'jwt',
    summary: 'The pool of a group and its newest ledger entries (group admins).',
    params: inGroup,
    result: ledgerRecord,
  }),
  'group.credits.allocate': method({
    auth: 'jwt',
    summary:
      'Move points from the pool of a group to the wallet of a member, atomically (group admins).',
    params: member.extend(movement),
    result: z.object({ balance: z.int(), wallet_balance: z.int() }),
  }),
};

export const ledgerMethods = {
  'ledger.self': method({
    auth: 'jwt-or-admin-token',
    summary: 'Your wallet and its newest ledger entries.',
    params: z.object({}),
    result: ledgerRecord,
  }),
};
