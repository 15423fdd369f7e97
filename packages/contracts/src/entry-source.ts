import { z } from 'zod';

/** The mark of what comes from the configuration file, which calls do not change. Absent otherwise. */
export const entrySource = z
  .literal('file')
  .optional()
  .describe('`file` if it comes from the configuration file: calls do not change it');
