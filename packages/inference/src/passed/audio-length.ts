import { wavBytesPerSecond } from './wav-format.ts';

/** Speech has about 150 words, which are 200 tokens, a minute. */
export const SECONDS_PER_TOKEN = 60 / 200;
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

/** The tokens of audio: those of the text that takes as long to be spoken. */
export const tokensOfSeconds = (seconds: number): number => Math.ceil(seconds / SECONDS_PER_TOKEN);
