import type { TokenUsage } from '@model-gateway/contracts';
import type { OnSign } from '../stream/event-reader.ts';
import type { ReportedUnits } from './billed-units.ts';
import type { RelayedFields, RelayedOperation } from './operations.ts';

/** An answer while it passes: the bytes for the client, and what they say about the usage. */
export interface AnswerReader {
  readonly contentType: string;
  /** The length of an answer that the first part has completely. */
  readonly length: number | undefined;
  /** The next bytes; undefined when the answer is complete. Rejects with an UpstreamFailure when it is not. */
  next(): Promise<Buffer | undefined>;
  /** Cancels the rest. */
  leave(): void;
  /** The usage to bill, reported or estimated; undefined when nothing billable was served. */
  usage(end: AnswerEnd): TokenUsage | undefined;
  /** What the answer has so far that is not priced by its tokens. */
  readonly reported: ReportedUnits;
  /** An estimate of what was generated so far. */
  readonly generatedTokens: number;
  /** What a complete stream has beyond the events of the upstream. */
  lastEvent?(usage: TokenUsage): Buffer | undefined;
}

/** How an answer ended. */
export interface AnswerEnd {
  readonly isComplete: boolean;
  /** The client left before the end. */
  readonly wasLeft: boolean;
  /** An estimate. */
  readonly promptTokens: () => number;
}

/** What an answer is read for. */
export interface AnswerReaderOptions {
  readonly operation: RelayedOperation;
  readonly fields: RelayedFields;
  /** As the backend lists it. */
  readonly model: string;
  /** Called when the first byte of an answer arrives that is read to its end. */
  readonly onFirstByte?: (() => void) | undefined;
  readonly onSign?: OnSign | undefined;
}
