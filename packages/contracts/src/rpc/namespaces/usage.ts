import { z } from 'zod';
import { method } from '../method.ts';
import { clamped, done, record, text, timestamp, usageRecord } from './records.ts';
import { spendSummary, spendSummaryParams } from './spend.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
const OFFSET_MAX = 2 ** 31 - 1;
const EVENT_ID_CHARS_MAX = 200;

/** A usage event that a recorder cannot record, and waits for. */
const haltedUsage = record('HaltedUsage', {
  event_id: z.string(),
  error: z.string(),
  attempts: z.int(),
  since: timestamp,
  last_tried_at: timestamp,
});

export const usageMethods = {
  'usage.list': method({
    auth: 'jwt',
    summary: 'Your metered requests, newest first.',
    params: z.object({
      limit: clamped(1, LIMIT_MAX).prefault(LIMIT_DEFAULT),
      offset: clamped(0, OFFSET_MAX).prefault(0),
      project: text(128).optional(),
    }),
    result: z.object({
      records: z.array(usageRecord),
      total: z.int(),
      limit: z.int(),
      offset: z.int(),
      project: z.string().nullable(),
    }),
  }),
  'usage.summary': method({
    auth: 'jwt',
    summary: 'What was spent in a period, by day, model, key or another dimension.',
    params: spendSummaryParams,
    result: spendSummary,
    isExtension: true,
  }),
  'usage.halts.list': method({
    auth: 'admin-or-admin-token',
    summary: 'The usage events at which recorders wait, because they cannot record them.',
    params: z.object({}),
    result: z.object({ events: z.array(haltedUsage) }),
    isExtension: true,
  }),
  'usage.halts.skip': method({
    auth: 'admin-or-admin-token',
    summary: 'Set aside a usage event at which a recorder waits, so that it goes on.',
    params: z.object({ event_id: text(EVENT_ID_CHARS_MAX).min(1) }),
    result: done,
    isExtension: true,
  }),
};
