import { readFile, writeFile } from 'node:fs/promises';
import { sha256Hex } from '@model-gateway/kernel';
import { isRecording } from './config.ts';

/** Answers by the name of their question, which is unique. */
type Answers = ReadonlyMap<string, unknown>;

interface RecordedOptions {
  /** Longer answers are kept as a hash. */
  readonly charsMax?: number;
  /** Whether an answer is kept in full however long it is, for those who read the file. */
  readonly isReadable?: (question: string) => boolean;
}

const CHARS_MAX = 200;
const HASH_CHARS = 16;
const DIFFERENCES_MAX = 3;

/**
 * Compares answers with those that a file of JSON lines has recorded: `[question, answer]`, or `[question, "sha256 …"]` for a long
 * answer. The order of properties does not count. With TEST_RECORD=1 it writes the file instead.
 */
export async function expectRecorded(
  file: URL,
  answers: Answers,
  { charsMax = CHARS_MAX, isReadable = () => false }: RecordedOptions = {},
): Promise<void> {
  const lines = new Map(
    [...answers].map(([question, answer]) => {
      const text = JSON.stringify(inOrder(answer));
      const isShort = text.length <= charsMax || isReadable(question);
      const kept = isShort ? text : `"sha256 ${sha256Hex(text).slice(0, HASH_CHARS)}"`;
      return [question, `[${JSON.stringify(question)},${kept}]`];
    }),
  );
  if (isRecording()) {
    await writeFile(file, `${[...lines.values()].join('\n')}\n`);
    return;
  }
  const recorded = new Map(
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => [(JSON.parse(line) as [string, unknown])[0], line]),
  );
  expect([...lines.keys()]).toEqual([...recorded.keys()]);
  const changed = [...lines].filter(([question, line]) => recorded.get(question) !== line);
  const shown = changed.slice(0, DIFFERENCES_MAX).map(([question]) => ({
    question,
    recorded: recorded.get(question),
    answered: JSON.stringify(inOrder(answers.get(question))),
  }));
  expect({ changed: changed.length, shown }).toEqual({ changed: 0, shown: [] });
}

/** With the properties of all objects in alphabetical order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, inOrder(each)]),
  );
}
