import { validated } from '@model-gateway/http';
import { yieldToEventLoop } from '@model-gateway/kernel';
import type { z } from 'zod';

/** A larger body is parsed and checked in steps, between which the process serves other requests. */
export const ONE_STEP_CHARS_MAX = 512 * 1024;

/** What the text of a large body asks for. */
export async function parseInSteps<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  parse: (text: string) => unknown,
): Promise<z.output<Schema>> {
  await yieldToEventLoop();
  const value = parse(text);
  await yieldToEventLoop();
  const body = validated(schema, value);
  await yieldToEventLoop();
  return body;
}
