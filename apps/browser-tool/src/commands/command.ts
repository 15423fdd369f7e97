import type { z } from 'zod';
import type { Captures } from '../capture/captures.ts';
import type { CallNotes, BrowserEngine, EngineCall } from '../engine.ts';
import type { CallOptions, RunCall } from '../session/browser-session.ts';

/** What commands work with. */
export interface CommandContext {
  /** Runs one call of the engine, when it is this command's turn. */
  readonly run: RunCall;
  readonly captures: Captures;
  readonly engine: () => BrowserEngine | undefined;
  /** The address that a caller means; fails where pages may not be opened there. */
  readonly checkUrl: (text: string) => string;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal | undefined;
}

/** What a command answers, by the names that both faces use. */
export type CommandData = Readonly<Record<string, unknown>>;

export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** How a command shows itself as an MCP tool. */
export interface ToolDefinition<Params> {
  readonly name: `browser_${string}`;
  readonly title: string;
  readonly description: string;
  /** Which of the command's parameters the tool has; the others are for HTTP alone. */
  readonly fields: readonly (keyof Params & string)[];
  /** Those that it takes as well without a word about them in the list of tools, which is short. */
  readonly unlisted?: readonly (keyof Params & string)[];
  /** Where the tool wants a parameter otherwise than HTTP does, such as with another default. */
  readonly overrides?: z.ZodRawShape;
  /** Parameters whose default a model should know. */
  readonly listedDefaults?: readonly (keyof Params & string)[];
  /** Parameters that the tool sets by itself. */
  readonly fixed?: Partial<Params>;
  readonly annotations: ToolAnnotations;
  /** The first lines of the answer; where the page is follows. */
  readonly text: (data: CommandData, params: Params) => string;
  /** Whether the answer can bring a snapshot of the page along. */
  readonly canSnapshot?: boolean;
}

/** One thing that the tool can do: the same for HTTP, for batches and for MCP. */
export interface Command<Schema extends z.ZodObject = z.ZodObject> {
  /** What it is called in a batch, and in messages. */
  readonly name: string;
  readonly params: Schema;
  /** Other names of parameters that callers use. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Names that mean another parameter when nothing else is given. */
  readonly soleAliases?: Readonly<Record<string, string>>;
  readonly http?: { readonly method: 'GET' | 'POST' | 'DELETE'; readonly path: string };
  readonly inBatch?: boolean;
  readonly tool?: ToolDefinition<z.output<Schema>>;
  run(params: z.output<Schema>, context: CommandContext): Promise<CommandData>;
}

/** Declares a command with the types of its parameters. */
export function command<Schema extends z.ZodObject>(declared: Command<Schema>): Command<Schema> {
  return declared;
}

/** Every name under which callers say which element they mean. */
export const TARGET_ALIASES = { ref: 'target', selector: 'target', uid: 'target' } as const;
export const TIMEOUT_ALIASES = { timeout: 'timeoutMs' } as const;

const DEADLINE_MS = 30_000;
// So that the engine's own, more telling time-out comes first.
const DEADLINE_MARGIN_MS = 5_000;

/** How long a call may take at the very most. */
export function deadlineFor(timeoutMs: number, atLeastMs = DEADLINE_MS): number {
  return Math.max(atLeastMs, timeoutMs + DEADLINE_MARGIN_MS);
}

type Asked = Omit<CallOptions, 'signal' | 'deadlineMs'> & { readonly deadlineMs?: number };

/** Runs one call and adds what happened besides to its answer. */
export async function runCall(
  { run, signal }: CommandContext,
  asked: Asked,
  work: (engine: BrowserEngine, call: EngineCall) => Promise<CommandData>,
): Promise<CommandData> {
  const start = performance.now();
  const options = { deadlineMs: DEADLINE_MS, ...asked, signal };
  const { result, notes, restarted } = await run(options, work);
  return {
    ...result,
    ...notesData(notes, 'dialogs' in result),
    ...('elapsed_ms' in result ? { elapsed_ms: Math.round(performance.now() - start) } : {}),
    ...(restarted ? { restarted: true } : {}),
  };
}

/** Dialogs, downloads and a new tab, as far as there were any. */
function notesData({ dialogs, downloads, openedTab }: CallNotes, always: boolean): CommandData {
  return {
    ...(always || dialogs.length > 0 ? { dialogs } : {}),
    ...(downloads.length > 0 ? { downloads } : {}),
    ...(openedTab === undefined ? {} : { opened_tab: openedTab }),
  };
}
