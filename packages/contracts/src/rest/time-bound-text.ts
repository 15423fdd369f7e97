import { z } from 'zod';
import { timeBound } from './time-bound.ts';

/** A bound of a period as text: a timestamp, or a date, which stands for the start or the end of the UTC day. */
export const timeBoundText = (dateMeans: 'start-of-day' | 'end-of-day') =>
  z.string().transform((text, context) => {
    const moment = timeBound(text, dateMeans);
    if (moment !== undefined) return moment;
    context.addIssue('must be YYYY-MM-DD or an RFC 3339 timestamp');
    return z.NEVER;
  });
