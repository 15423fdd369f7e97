import { flag, integer, setting, withDefault } from '@model-gateway/kernel';

const GIBIBYTE = 1024 ** 3;

/** How much one user may have in progress, and what is kept of requests, for the apps that serve models. */
export const inferenceSettings = {
  callsPerUserMax: setting('SERVICE_MAX_CALLS_PER_USER', withDefault(integer(1), 500), {
    description:
      'How many streams and calls of models a user may have in progress at a time, over all APIs and processes; and, counted apart, how many event streams and WebSockets.',
  }),
  logBodies: setting('SERVICE_LOG_BODIES', withDefault(flag(), false), {
    description:
      'Whether the request log keeps the bodies of requests and responses, up to 64 KiB each, unless the key says otherwise.',
    defaultText: '0',
  }),
  storedBytesPerUserMax: setting(
    'SERVICE_STORED_BYTES_PER_USER',
    withDefault(integer(1), GIBIBYTE),
    {
      description:
        'How many bytes of conversations and of responses of `/v1/responses` are stored for a user together, uncompressed. The oldest responses are deleted first; when conversations alone need all of it, nothing more is stored.',
    },
  ),
  videoJobsPerUserMax: setting('SERVICE_MAX_VIDEO_JOBS_PER_USER', withDefault(integer(1), 100), {
    description: 'How many unfinished video jobs a user may have.',
  }),
};
