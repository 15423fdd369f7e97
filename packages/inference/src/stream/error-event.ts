import { ServiceError } from '@model-gateway/contracts';
import { chatErrorEvent } from '@model-gateway/dialects';
import { describeError } from '@model-gateway/kernel';

/** The last event of a stream that is not whole. */
export const errorEvent = (failure: unknown): string =>
  chatErrorEvent(
    describeError(failure),
    failure instanceof ServiceError ? failure.code : 'bad_gateway',
  );
