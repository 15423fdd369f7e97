import { z } from 'zod';
import { timeBound } from './time-bound.ts';

const moment = (dateMeans: 'start-of-day' | 'end-of-day') =>
  z.string().transform((text, context) => {
    const time = timeBound(text, dateMeans);
    if (time !== undefined) return time;
    context.addIssue({ code: 'custom', message: 'must be a date or an RFC 3339 time' });
    return z.NEVER;
  });

/** The query of `GET /api/admin/audit`. */
export const auditExportSchema = z.object({
  from: moment('start-of-day').optional(),
  to: moment('end-of-day').optional(),
  /** Only entries with a higher `seq`. */
  after: z.coerce.number().int().min(0).default(0),
});
