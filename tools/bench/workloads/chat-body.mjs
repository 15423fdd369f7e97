// The same short conversation for all candidates.
const MESSAGES = [
  { role: 'system', content: 'You are a helpful assistant. Answer in one short sentence.' },
  { role: 'user', content: 'What does the quick brown fox do, and to whom does it do it?' },
];

/** A request that is not streamed. */
export const WHOLE_ANSWER = { model: 'bench', messages: MESSAGES };

/** A request for a stream; the model's name sets the number and rate of tokens. */
export const streamedAnswer = (tokens, intervalMs) => ({
  model: `bench-${tokens}-${intervalMs}`,
  stream: true,
  messages: MESSAGES,
});

/** A request for a short stream without delays, for the warm-up. */
export const HASTY_STREAM = streamedAnswer(10, 0);
