import { z } from 'zod';
import { method } from '../method.ts';
import { clamped, text, usageRecord } from './records.ts';
import { spendSummary, spendSummaryParams } from './spend.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
const OFFSET_MAX = 2 ** 31 - 1;

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
};
