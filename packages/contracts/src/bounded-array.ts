import { z } from 'zod';
import { parsePart, replaceParse } from './replace-parse.ts';

/** How many problems of one value are reported. */
export const PROBLEMS_MAX = 20;

interface ArrayBounds<Element> {
  readonly min?: number;
  readonly max: number;
  /** Recognizes valid elements faster than their schema, for arrays of many small elements. */
  readonly isValid?: (element: unknown) => element is Element;
}

/**
 * An array whose length is checked before its elements. The elements are checked until there are enough problems: a
 * problem costs microseconds, and a request could contain millions of them.
 */
export function boundedArray<Element extends z.ZodType>(
  element: Element,
  { min = 0, max, isValid }: ArrayBounds<z.output<Element>>,
): z.ZodArray<Element> {
  const schema = min > 0 ? z.array(element).min(min).max(max) : z.array(element).max(max);
  replaceParse(schema, (payload, context, original) => {
    const elements = payload.value;
    if (!Array.isArray(elements) || elements.length > max) return original();
    const parsed: unknown[] = [];
    for (const [index, value] of (elements as readonly unknown[]).entries()) {
      if (isValid?.(value) === true) {
        parsed.push(value);
        continue;
      }
      const result = parsePart(element, value, context);
      parsed.push(result.value);
      if (result.issues.length === 0) continue;
      payload.issues.push(...z.core.util.prefixIssues(index, result.issues));
      if (payload.issues.length >= PROBLEMS_MAX) break;
    }
    payload.value = parsed;
    return payload;
  });
  return schema;
}
