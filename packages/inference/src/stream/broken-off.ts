import { UpstreamFailure } from '@model-gateway/router';

/** What is said of a stream that ended without having come to its end. */
export const CUT_OFF = 'the upstream ended the stream before the answer was complete';

/** The failure of an answer into which the upstream wrote an error of its own. */
export const brokenOffBy = (error: string): UpstreamFailure =>
  new UpstreamFailure(error, {
    isBackendAtFault: true,
    loggedAs: 'the upstream sent an error in the middle of its answer',
  });

/** The failure of an answer that had begun. */
export const brokenOff = (message: string): UpstreamFailure =>
  new UpstreamFailure(message, { isBackendAtFault: true });
