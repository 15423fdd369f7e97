/** An answer, with what the model thought before it. */
interface SplitAnswer {
  readonly thoughts: string;
  readonly answer: string;
  /** Whether the thoughts have not ended yet. */
  readonly isThinking: boolean;
}

const OPEN = '<think>';
const CLOSE = '</think>';

/** Open models write their thoughts in front of the answer, between two tags. */
export function splitThoughts(text: string): SplitAnswer {
  const start = text.trimStart();
  if (!start.startsWith(OPEN)) return { thoughts: '', answer: text, isThinking: false };
  const end = start.indexOf(CLOSE);
  return end === -1
    ? { thoughts: start.slice(OPEN.length).trim(), answer: '', isThinking: true }
    : {
        thoughts: start.slice(OPEN.length, end).trim(),
        answer: start.slice(end + CLOSE.length).trimStart(),
        isThinking: false,
      };
}
