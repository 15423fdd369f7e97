/** A call of a tool, put together from its parts. */
export interface ToolCall {
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

interface ToolCallPart {
  readonly index?: number;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

/** Adds the parts of a chunk: the first part of a call has its name, the others continue its arguments. */
export function addToolCalls(
  calls: readonly ToolCall[],
  parts: readonly unknown[],
): readonly ToolCall[] {
  const all = [...calls];
  for (const part of parts as readonly ToolCallPart[]) {
    const index = part.index ?? all.length;
    const before = all[index] ?? { name: '', arguments: '' };
    all[index] = {
      name: before.name + (part.function?.name ?? ''),
      arguments: before.arguments + (part.function?.arguments ?? ''),
    };
  }
  return all;
}
