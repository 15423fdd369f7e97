import { wavBytesPerSecond } from './wav-format.ts';

/** Speech has about 150 words a minute, which are about this many tokens. */
const TOKENS_PER_MINUTE = 200;
const SECONDS_PER_MINUTE = 60;
/** Compressed audio files usually have 128 kbit a second. */
const FILE_BYTES_PER_SECOND = 16_000;

/** An audio file that a client has sent. */
export interface AudioFile {
  readonly bytes: number;
  /** Its beginning, if that has arrived. */
  readonly fileHead?: Buffer | undefined;
}

/** About how long an audio file is, before an upstream reports it: by its header, or else by its size. */
export const secondsOfFile = ({ bytes, fileHead }: AudioFile): number =>
  bytes / ((fileHead && wavBytesPerSecond(fileHead)) ?? FILE_BYTES_PER_SECOND);

/** The tokens of audio: those of a text that takes as long to speak. */
export const tokensOfSeconds = (seconds: number): number =>
  Math.ceil((seconds * TOKENS_PER_MINUTE) / SECONDS_PER_MINUTE);

/** How long it takes to speak a text. */
export const secondsOfTokens = (tokens: number): number =>
  (tokens * SECONDS_PER_MINUTE) / TOKENS_PER_MINUTE;
