/** What every program that we run gets to see: nothing of our own environment, which holds secrets. */
export const SYSTEM_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
  TZ: 'UTC',
};
