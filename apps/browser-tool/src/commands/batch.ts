import { z } from 'zod';
import { ToolError } from '../errors.ts';
import { describeError } from '@model-gateway/kernel';
import type { Command, CommandContext, CommandData } from './command.ts';
import { parseParams, type ParamStyle } from './parse-params.ts';

const OPERATIONS_MAX = 100;

/** The parameters of `POST /batch`. */
export const batchParams = z.object({
  operations: z.array(z.record(z.string(), z.unknown())).max(OPERATIONS_MAX),
  stopOnError: z.boolean().default(true),
});

interface OperationResult {
  readonly index: number;
  readonly name: string;
  readonly op_type: string;
  readonly success: boolean;
  readonly data?: CommandData;
  readonly error?: string;
  readonly code?: string;
  readonly duration_ms: number;
}

/** Runs operations in order; by default it stops at the first failure. */
export async function runBatch(
  commands: readonly Command[],
  { operations, stopOnError }: z.output<typeof batchParams>,
  context: CommandContext,
  style: ParamStyle,
): Promise<CommandData> {
  const results: OperationResult[] = [];
  let stoppedAt: number | undefined;
  for (const [index, operation] of operations.entries()) {
    const result = await runOperation(commands, operation, index, context, style);
    results.push(result);
    if (!result.success && stopOnError) {
      stoppedAt = index;
      break;
    }
  }
  const failed = results.filter(({ success }) => !success).length;
  return {
    results,
    completed: results.length - failed,
    failed,
    ...(stoppedAt === undefined ? {} : { stopped_at: stoppedAt }),
  };
}

async function runOperation(
  commands: readonly Command[],
  { type, name, ...given }: Readonly<Record<string, unknown>>,
  index: number,
  context: CommandContext,
  style: ParamStyle,
): Promise<OperationResult> {
  const start = performance.now();
  const opType = typeof type === 'string' ? type : (JSON.stringify(type) ?? '');
  const label = { index, name: typeof name === 'string' ? name : opType, op_type: opType };
  const took = (): { readonly duration_ms: number } => ({
    duration_ms: Math.round(performance.now() - start),
  });
  try {
    const found = findCommand(commands, type);
    const { params } = parseParams(found, found.params, given, style);
    const data = await found.run(params, context);
    return { ...label, success: true, data, ...took() };
  } catch (error) {
    const isKnown = error instanceof ToolError;
    const text = isKnown ? error.sentence : describeError(error);
    return {
      ...label,
      success: false,
      error: text,
      code: isKnown ? error.code : 'INTERNAL',
      ...took(),
    };
  }
}

function findCommand(commands: readonly Command[], type: unknown): Command {
  const possible = commands.filter(({ inBatch }) => inBatch === true);
  const kebabType = typeof type === 'string' ? type.replaceAll('_', '-') : undefined;
  const found = possible.find(({ name }) => name === kebabType);
  if (found !== undefined) return found;
  const allowed = possible.map(({ name }) => name);
  throw new ToolError(
    'INVALID_ARGUMENT',
    type === undefined
      ? 'An operation needs a type.'
      : `${JSON.stringify(type)} is not an operation type.`,
    {
      hint: `Use one of ${allowed.join(', ')}.`,
      details: { field: 'type', allowed },
    },
  );
}
