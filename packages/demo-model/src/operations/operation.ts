import type { JsonObject } from '../wire/json.ts';

/** One formatted chunk of a streamed response, and its tokens. */
export interface Chunk {
  readonly text: string;
  readonly tokens: number;
}

/** The content type of a streamed response. */
export const STREAM = 'text/event-stream; charset=utf-8';

/** A request of an operation. */
export interface OperationRequest {
  readonly model: string;
  /** The JSON body, or the fields of an upload. */
  readonly body: JsonObject;
  /** Whether the response says how many tokens were used. */
  readonly withUsage: boolean;
}

/** A whole response, or the chunks of a streamed one. */
export type OperationReply = {
  /** The id of the response, where it has one. */
  readonly id?: string;
  readonly contentType: string;
  readonly promptTokens: number;
} & (
  | { readonly content: Buffer; readonly completionTokens: number }
  | { readonly chunks: Iterable<Chunk> }
);

/** Answers a request, or returns an error message for an invalid one. */
export type Operation = (
  request: OperationRequest,
) => OperationReply | string | Promise<OperationReply | string>;

/** A whole response in JSON. */
export const jsonReply = (
  value: unknown,
  promptTokens: number,
  completionTokens = 0,
): OperationReply => ({
  contentType: 'application/json',
  content: Buffer.from(JSON.stringify(value)),
  promptTokens,
  completionTokens,
});
