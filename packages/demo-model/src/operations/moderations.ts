import { randomUUID } from 'node:crypto';
import { wordsOf } from '../answering/words.ts';
import { asList, asObject, asText } from '../wire/json.ts';
import { jsonReply, type Operation } from './operation.ts';

/** The categories of the API, and words that show the ones that the demo knows. */
const CATEGORIES: Readonly<Record<string, readonly string[]>> = {
  harassment: ['idiot', 'stupid'],
  'harassment/threatening': [],
  hate: ['hate'],
  'hate/threatening': [],
  illicit: ['steal', 'drugs'],
  'illicit/violent': ['bomb'],
  'self-harm': ['suicide'],
  'self-harm/intent': [],
  'self-harm/instructions': [],
  sexual: ['porn'],
  'sexual/minors': [],
  violence: ['kill', 'attack', 'murder'],
  'violence/graphic': ['blood'],
};
const FLAGGED_SCORE = 0.9;
const OTHER_SCORE = 0.01;
const INPUTS_MAX = 1_000;
const READ_CHARS_MAX = 16 * 1024;

/** Flags texts that contain one of a few words: enough to try both outcomes. */
export const moderate: Operation = ({ model, body }) => {
  const texts = readTexts(body.input);
  if (texts.length === 0) return "Missing required parameter: 'input'.";
  if (texts.length > INPUTS_MAX) return `Too many inputs: at most ${INPUTS_MAX}.`;
  return jsonReply({ id: `modr-${randomUUID()}`, model, results: texts.map(resultOf) }, 0);
};

function resultOf(text: string) {
  const words = new Set(wordsOf(text.slice(0, READ_CHARS_MAX)));
  const categories = Object.entries(CATEGORIES).map(
    ([name, marks]) => [name, marks.some((mark) => words.has(mark))] as const,
  );
  return {
    flagged: categories.some(([, isFlagged]) => isFlagged),
    categories: Object.fromEntries(categories),
    category_scores: Object.fromEntries(
      categories.map(([name, isFlagged]) => [name, isFlagged ? FLAGGED_SCORE : OTHER_SCORE]),
    ),
    category_applied_input_types: Object.fromEntries(categories.map(([name]) => [name, ['text']])),
  };
}

/** A text, texts, or the content parts of one input. */
function readTexts(input: unknown): readonly string[] {
  if (typeof input === 'string') return [input];
  const list = asList(input);
  if (list.every((item) => typeof item === 'string')) return list;
  return [list.map((part) => asText(asObject(part).text) ?? '').join('\n')];
}
