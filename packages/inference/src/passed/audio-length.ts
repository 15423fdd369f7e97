/** Speech has about 150 words, which are 200 tokens, a minute. */
export const SECONDS_PER_TOKEN = 60 / 200;
/** Audio files usually have 128 kbit a second. */
const FILE_BYTES_PER_SECOND = 16_000;

/** About how long an audio file is, before an upstream reports it. */
export const secondsOfFile = (bytes: number): number => bytes / FILE_BYTES_PER_SECOND;

/** The tokens of an audio file: those of the text that takes as long to be spoken. */
export const tokensOfFile = (bytes: number): number =>
  Math.ceil(secondsOfFile(bytes) / SECONDS_PER_TOKEN);
