import type { z } from 'zod';

/** What another process sent or stored, or undefined when it is not what it should be. */
export function parseMessage<Shape>(schema: z.ZodType<Shape>, text: string): Shape | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
