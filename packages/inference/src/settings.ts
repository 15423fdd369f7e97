import { integer, setting, withDefault } from '@model-gateway/kernel';

/** How much one user may have in progress, for the apps that serve models. */
export const inferenceSettings = {
  callsPerUserMax: setting('SERVICE_MAX_CALLS_PER_USER', withDefault(integer(1), 500), {
    description:
      'How many streams and calls of models a user may have in progress at a time, over all APIs and processes; and, counted apart, how many event streams and WebSockets.',
  }),
  videoJobsPerUserMax: setting('SERVICE_MAX_VIDEO_JOBS_PER_USER', withDefault(integer(1), 100), {
    description: 'How many unfinished video jobs a user may have.',
  }),
};
