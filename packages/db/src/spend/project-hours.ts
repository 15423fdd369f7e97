import { Prisma } from '../generated/client.ts';
import { ADDED_SUMS, startsWithin, type MadeHours } from './made-hours.ts';
import { NIL } from './slice-sql.ts';

/** How many lines of accounts a group has on a day: fewer are read about as fast. */
const LINES_MIN = 200;
const KEYS = Prisma.sql`since, group_id, project`;

/** The projects of large groups, so that the chart of one does not read the lines of all members. */
export const PROJECT_HOURS: MadeHours = {
  cut: 'group-project',
  table: Prisma.sql`usage_sums_group_project`,
  owner: Prisma.sql`group_id`,
  keys: KEYS,
  same: {
    columns: Prisma.sql`user_id, key_id, model, upstream`,
    values: Prisma.sql`${NIL}, ${NIL}, '', ''`,
  },
  keptCut: 'group',
  large: (day) => Prisma.sql`
    SELECT group_id FROM usage_sums
    WHERE cut = 'account' AND grain = 'hour' AND ${startsWithin(day)} AND group_id <> ${NIL}
    GROUP BY group_id HAVING count(*) >= ${LINES_MIN}`,
  lines: (day, groups) => Prisma.sql`
    SELECT ${KEYS}, ${ADDED_SUMS} FROM usage_sums
    WHERE cut = 'account' AND grain = 'hour' AND ${startsWithin(day)} AND group_id IN (${groups})
    GROUP BY ${KEYS}`,
};
