import { UNSENT_FIELDS } from '@model-gateway/dialects';
import type { RelayedContent } from '@model-gateway/router';
import type { OnSign } from '../stream/event-reader.ts';
import type { ExpectedUsage } from '../quota/reservation.ts';
import { secondsOfFile, type AudioFile } from './audio-length.ts';
import { billedUnits, unitsOfUpload } from './billed-units.ts';
import type { RelayedFields, RelayedOperation } from './operations.ts';

/** One request of an API that passes without translation. */
export interface RelayedCall {
  readonly operation: RelayedOperation;
  readonly source: RelayedSource;
  readonly onSign?: OnSign;
}

/** The body of a request, for each backend that is tried. */
export interface RelayedSource {
  contentFor(model: string): RelayedContent;
  /** Absent for a body that is kept, which can always be sent again. */
  readonly upload?: RelayedUpload;
}

/** A body that passes while the client sends it. */
export interface RelayedUpload extends AudioFile {
  /** Whether it can still be sent as a whole. */
  canSend(): boolean;
  /** Whether an upstream has all of it. */
  isSent(): boolean;
  /** How much of it the client has sent. */
  readonly bytes: number;
  /** Why it could not be read from the client, if that is so. */
  failure(): Error | undefined;
}

/** Whether a field is for the gateway, so that no upstream gets it. */
export const isGatewayField = (name: string): boolean => UNSENT_FIELDS.has(name);

/** The body of a JSON request: unchanged, apart from the model and the fields for the gateway. */
export function jsonSource(operation: RelayedOperation, fields: RelayedFields): RelayedSource {
  const forwarded = Object.fromEntries(
    Object.entries(fields).filter(([name]) => !isGatewayField(name)),
  );
  const isStream = streamsText({ operation, fields });
  return {
    contentFor: (model) => ({
      json: { ...forwarded, model, ...(isStream ? usageRequested(fields['stream_options']) : {}) },
    }),
  };
}

/** Whether the answer is a text that is streamed, which has the events of a chat. */
export const streamsText = ({
  operation,
  fields,
}: {
  readonly operation: RelayedOperation;
  readonly fields: RelayedFields;
}): boolean => operation.capability === 'completions' && fields['stream'] === true;

/** Usage is always requested, because it is billed. */
const usageRequested = (options: unknown): object => ({
  stream_options: {
    ...(typeof options === 'object' && options !== null ? options : {}),
    include_usage: true,
  },
});

/** About how long the audio of an upload is; undefined without an upload. */
export const uploadSeconds = ({ upload }: RelayedSource): number | undefined =>
  upload && secondsOfFile(upload);

/** What a request is expected to use; an upload also by its size, if that is known. */
export const expectedRelayed =
  (operation: RelayedOperation, uploadBytes?: number) =>
  (fields: RelayedFields): ExpectedUsage => {
    const seconds = uploadBytes === undefined ? undefined : secondsOfFile({ bytes: uploadBytes });
    const promptTokens = operation.promptTokens(fields, seconds);
    const completionTokens = operation.completionTokens(fields);
    const tokens = { prompt_tokens: promptTokens, completion_tokens: completionTokens };
    const units = unitsOfUpload(seconds);
    const { images, audioSeconds } = billedUnits(operation, fields, units, tokens);
    return { promptTokens, completionTokens, images, audioSeconds };
  };
