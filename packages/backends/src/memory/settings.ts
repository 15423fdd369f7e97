import {
  flag,
  integer,
  optional,
  setting,
  text,
  urlWith,
  withDefault,
} from '@model-gateway/kernel';

/** The memory service, and how long a turn waits for it. */
export const memorySettings = {
  memoryUrl: setting('SERVICE_MEMORY_URL', optional(urlWith('ws', 'wss')), {
    description: 'The memory service (`ws://` or `wss://`). Without it, long-term memory is off.',
    defaultText: 'unset: memory is off',
  }),
  memoryToken: setting('SERVICE_MEMORY_TOKEN', optional(text()), {
    description: 'The bearer token for the memory service.',
    defaultText: 'unset',
    secret: true,
  }),
  memoryWriteback: setting('SERVICE_MEMORY_WRITEBACK', withDefault(flag(), true), {
    description: 'Whether completed turns are written back to the memory service.',
  }),
  memoryTimeoutMs: setting('SERVICE_MEMORY_TIMEOUT_MS', withDefault(integer(1, 60_000), 800), {
    description:
      'How long a call to the memory service may take, connecting included; a turn waits no longer for its memories.',
  }),
};
