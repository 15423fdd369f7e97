import { UpstreamFailure } from '@model-gateway/router';

/** What is said of a stream that ended without having come to its end. */
export const CUT_OFF = 'the upstream ended the stream before the answer was complete';

/** The failure of an answer that had begun. */
export const brokenOff = (message: string): UpstreamFailure =>
  new UpstreamFailure(message, { isBackendAtFault: true });
