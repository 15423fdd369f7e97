const DAY_MS = 86_400_000;
/** For how many days the lines of all dimensions are kept by the hour: they are almost as many as the rows. */
const DAYS_KEPT = 62;

/** From this moment on, there are lines of all dimensions by the hour. Before it, the rows are read. */
export const firstHourOfAll = (now: Date): Date =>
  new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS - DAYS_KEPT * DAY_MS);

/** Hours before this moment are deleted: a day later than they are last read. */
export const lastHourToForget = (now: Date): Date =>
  new Date(firstHourOfAll(now).getTime() - DAY_MS);
