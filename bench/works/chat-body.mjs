// What is asked: a short conversation, the same for everybody.
const MESSAGES = [
  { role: 'system', content: 'You are a helpful assistant. Answer in one short sentence.' },
  { role: 'user', content: 'What does the quick brown fox do, and to whom does it do it?' },
];

/** A request for a whole answer. */
export const WHOLE_ANSWER = { model: 'bench', messages: MESSAGES };

/** A request for a stream; the upstream reads tokens and pace from the model's name. */
export const streamedAnswer = (tokens, intervalMs) => ({
  model: `bench-${tokens}-${intervalMs}`,
  stream: true,
  messages: MESSAGES,
});

/** A request for a short stream without a pace, to warm up with. */
export const HASTY_STREAM = streamedAnswer(10, 0);
