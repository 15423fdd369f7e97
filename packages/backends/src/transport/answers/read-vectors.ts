import { createStepPauses, elementSources, memberSource, numberOf } from '@model-gateway/kernel';

const DIMENSIONS_MAX = 65_536;

/** The vectors of a list, read one by one; between them the process serves other requests. Undefined if there is another value. */
export async function readVectors<Vector>(
  list: unknown,
  read: (element: unknown) => Vector | undefined,
): Promise<readonly Vector[] | undefined> {
  if (!Array.isArray(list)) return undefined;
  const elements: readonly unknown[] = list;
  const pauseIfDue = createStepPauses();
  const vectors: Vector[] = [];
  for (const element of elements) {
    const vector = read(element);
    if (vector === undefined) return undefined;
    vectors.push(vector);
    const pause = pauseIfDue();
    if (pause !== undefined) await pause;
  }
  return vectors;
}

/** The texts of the lists of numbers in a list, or in a field of its elements; the text is valid JSON with these. */
export function textsOfVectors(text: string, list: string, field?: string): readonly string[] {
  return elementSources(memberSource(text, list) ?? '[]').map((element) => {
    const vector = field === undefined ? element : (memberSource(element, field) ?? '');
    return vector.replaceAll(/\s+/g, '');
  });
}

/** A vector as a list of numbers; its length is checked before its elements. */
export const isVector = (value: unknown): value is readonly number[] =>
  Array.isArray(value) &&
  value.length <= DIMENSIONS_MAX &&
  value.every((element) => numberOf(element) !== undefined);
