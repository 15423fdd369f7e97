import { z } from 'zod';
import { upstreamFailed } from '../errors/upstream-error.ts';

// The same limit as in `memory.delete`.
const nodeId = z.string().min(1).max(256);

export const recalledSchema = z.looseObject({
  nodes: z.array(z.looseObject({ node_id: nodeId, text: z.string() })),
});

export const writtenSchema = z.looseObject({ node_ids: z.array(nodeId) });

export const deletedSchema = z.looseObject({ deleted: z.boolean() });

/** Parses a response of the memory service; another shape is a failure. */
export function readAnswer<Schema extends z.ZodType>(
  schema: Schema,
): (result: unknown) => z.output<Schema> {
  return (result) => {
    const parsed = schema.safeParse(result);
    if (parsed.success) return parsed.data;
    throw upstreamFailed('the memory service sent an invalid response');
  };
}
