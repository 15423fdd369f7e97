import type { z } from 'zod';
import type { Captures } from '../capture/captures.ts';
import type { BrowserEngine, CallNotes, DialogAnswer, EngineCall } from '../engine.ts';
import type { RunCall } from '../session/browser-session.ts';

/** The dependencies of commands. */
export interface CommandContext {
  /** Runs one engine call after the earlier ones have finished. */
  readonly run: RunCall;
  readonly captures: Captures;
  readonly engine: () => BrowserEngine | undefined;
  /** Completes and checks the URL of a caller; fails if the policy does not allow it. */
  readonly checkUrl: (text: string) => string;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal | undefined;
}

/** The result of a command, with the field names of the HTTP API. */
export type CommandData = Readonly<Record<string, unknown>>;

export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** For tools that change the page. */
export const ACTING: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** For tools that only read the page. */
export const READING: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

/** A command as an MCP tool. */
export interface ToolDefinition<Params> {
  readonly name: `browser_${string}`;
  readonly title: string;
  readonly description: string;
  /** The parameters of the command that the tool has; the others are only for HTTP. */
  readonly fields: readonly (keyof Params & string)[];
  /** Parameters that are accepted but not listed, to keep the list of tools short. */
  readonly unlisted?: readonly (keyof Params & string)[];
  /** Parameters that differ from HTTP, such as by another default. */
  readonly overrides?: z.ZodRawShape;
  /** Parameters whose default is listed for the model. */
  readonly listedDefaults?: readonly (keyof Params & string)[];
  /** Parameters that the tool always sets. */
  readonly fixed?: Partial<Params>;
  readonly annotations: ToolAnnotations;
  /** The first lines of the result; the page URL and title follow. */
  readonly text: (data: CommandData, params: Params) => string;
  /** Whether the result can include a snapshot of the page. */
  readonly canSnapshot?: boolean;
}

/** One operation of the tool, for HTTP, batches and MCP. */
export interface Command<Schema extends z.ZodObject = z.ZodObject> {
  /** Its name in a batch and in messages. */
  readonly name: string;
  readonly params: Schema;
  /** Alternative names of parameters. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Alternative names that apply only if no other parameter is given. */
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

/** The alternative names of the element parameter. */
export const TARGET_ALIASES = { ref: 'target', selector: 'target', uid: 'target' } as const;
export const TIMEOUT_ALIASES = { timeout: 'timeoutMs' } as const;
export const ELEMENT_ALIASES = { ...TARGET_ALIASES, ...TIMEOUT_ALIASES } as const;

const DEADLINE_MS = 30_000;
// So that the more specific timeout of the engine comes first.
const DEADLINE_MARGIN_MS = 5_000;

/** The parameters that are about a call as a whole. */
interface CallParams {
  readonly timeoutMs?: number;
  readonly dialog?: DialogAnswer | undefined;
  readonly promptText?: string | undefined;
}

/** Runs one call and adds its notes to the result. The hard limit for it is a little after its own timeout. */
export async function runCall(
  { run, signal }: CommandContext,
  name: string,
  { timeoutMs = 0, dialog, promptText }: CallParams,
  work: (engine: BrowserEngine, call: EngineCall) => Promise<CommandData>,
  deadlineMsMin = DEADLINE_MS,
): Promise<CommandData> {
  const start = performance.now();
  const deadlineMs = Math.max(deadlineMsMin, timeoutMs + DEADLINE_MARGIN_MS);
  const options = { name, deadlineMs, dialog, promptText, signal };
  const { result, notes, restarted } = await run(options, work);
  return {
    ...result,
    ...notesData(notes, 'dialogs' in result),
    ...('elapsed_ms' in result ? { elapsed_ms: Math.round(performance.now() - start) } : {}),
    ...(restarted ? { restarted: true } : {}),
  };
}

/** Dialogs, downloads and a new tab, if there were any. */
function notesData({ dialogs, downloads, openedTab }: CallNotes, always: boolean): CommandData {
  return {
    ...(always || dialogs.length > 0 ? { dialogs } : {}),
    ...(downloads.length > 0 ? { downloads } : {}),
    ...(openedTab === undefined ? {} : { opened_tab: openedTab }),
  };
}
