import { UpstreamFailure } from '@model-gateway/router';

/** The message for a stream that ended too early. */
export const CUT_OFF = 'the upstream ended the stream before the answer was complete';

/** The failure of a response in which the upstream sent an error. */
export const brokenOffBy = (error: string): UpstreamFailure =>
  new UpstreamFailure(error, {
    isBackendAtFault: true,
    wasAnswered: true,
    loggedAs: 'the upstream sent an error in the middle of its answer',
  });

/** The failure of a response that exceeds a limit of this service: the backend works, so that it is not avoided. */
export const exceeded = (message: string): UpstreamFailure =>
  new UpstreamFailure(message, { isBackendAtFault: false });

/** The failure of a response that had begun. */
export const brokenOff = (message: string): UpstreamFailure =>
  new UpstreamFailure(message, { isBackendAtFault: true });
