import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { BrowserTool } from '../../app.ts';
import type { CommandContext, CommandData } from '../../commands/command.ts';
import { parseParams } from '../../commands/parse-params.ts';
import type { PageAddress } from '../../engine.ts';
import type { RunCall } from '../../session/browser-session.ts';
import { errorAnswer, ToolError } from '../../errors.ts';
import { wellFormed } from '../../well-formed.ts';
import { withSnapshot } from './page-after-action.ts';
import { eventLines, firstEvents, resultText } from './result-text.ts';
import { toolParams, type ToolCommand } from './tool-list.ts';

const STYLE = { isSnake: false, isStrict: true, isText: false } as const;
const RESULT_CHARS_MAX = 20_000;

/** Runs a tool. A failure is also a result, so that the model can react to it. */
export async function callTool(
  command: ToolCommand,
  given: unknown,
  openTool: () => Promise<BrowserTool>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  let wantsAll = false;
  try {
    const label = { ...command, name: command.tool.name };
    const { params: parsed } = parseParams(label, toolParams(command), given ?? {}, STYLE);
    wantsAll = parsed['allDialogs'] === true;
    const params = command.params.parse({ ...parsed, ...command.tool.fixed }) as CommandData;
    const tool = await openTool();
    const { data, address } = await run(tool, command, params, signal);
    const result = success(command, { ...address, ...data }, params, tool);
    return wellFormed(wantsAll ? result : withFirstEvents(result));
  } catch (error) {
    const result = failure(error);
    return wellFormed(wantsAll ? result : withFirstEvents(result));
  }
}

/** Limits the dialogs and downloads of a result, of which a page may make as many as it likes. */
function withFirstEvents({ structuredContent = {}, ...result }: CallToolResult): CallToolResult {
  const { details } = structuredContent;
  const isDetailed = typeof details === 'object' && details !== null;
  return {
    ...result,
    structuredContent: {
      ...firstEvents(structuredContent),
      ...(isDetailed ? { details: firstEvents(details as CommandData) } : {}),
    },
  };
}

interface RunResult {
  readonly data: CommandData;
  readonly address: Partial<PageAddress>;
}

async function run(
  tool: BrowserTool,
  command: ToolCommand,
  params: CommandData,
  signal: AbortSignal,
): Promise<RunResult> {
  const wantsSnapshot = command.tool.canSnapshot === true && params['includeSnapshot'] === true;
  if (!wantsSnapshot) return runAlone(tool, command, params, tool.context(signal));
  return tool.session.exclusive(async (runCall) => {
    const context = tool.context(signal, runCall);
    const { data, address } = await runAlone(tool, command, params, context);
    return { data: await withSnapshot(data, context), address };
  });
}

/** Adds the page address to the result of commands that do not return it. */
async function runAlone(
  { session }: BrowserTool,
  command: ToolCommand,
  params: CommandData,
  context: CommandContext,
): Promise<RunResult> {
  let address: Partial<PageAddress> = {};
  const withAddress: RunCall = (options, work) =>
    context.run(options, async (engine, call) => {
      const result = await work(engine, call);
      const isKnown = typeof result === 'object' && result !== null && 'url' in result;
      if (!isKnown) address = await engine.address(call);
      return result;
    });
  const data = await command.run(params, { ...context, run: withAddress });
  return {
    data,
    address: 'url' in data || 'url' in address ? address : (session.lastAddress() ?? {}),
  };
}

function success(
  { tool: definition }: ToolCommand,
  data: CommandData,
  params: CommandData,
  { session }: BrowserTool,
): CallToolResult {
  const text = resultText(definition, data, params, session.captures.console.counts());
  const { data: image, mime_type: mimeType } = data;
  if (typeof image === 'string' && typeof mimeType === 'string') {
    const { data: _image, ...rest } = data;
    return {
      content: [
        { type: 'text', text },
        { type: 'image', data: image, mimeType },
      ],
      structuredContent: { ok: true, ...rest },
    };
  }
  return { content: [{ type: 'text', text }], structuredContent: { ok: true, ...clipped(data) } };
}

/** Limits the result of a script to what a model should read. */
function clipped(data: CommandData): CommandData {
  if (!('result' in data)) return data;
  const json = JSON.stringify(data['result']) ?? '';
  if (json.length <= RESULT_CHARS_MAX) return data;
  return { ...data, result: `${json.slice(0, RESULT_CHARS_MAX)}…`, truncated: true };
}

/** A failure as the result of a tool. */
export function failure(error: unknown): CallToolResult {
  const known =
    error instanceof ToolError
      ? error
      : new ToolError('INTERNAL', error instanceof Error ? error.message : String(error));
  const summary = `${known.code}: ${known.sentence}`;
  return {
    isError: true,
    content: [{ type: 'text', text: [summary, ...eventLines(known.details ?? {})].join('\n') }],
    structuredContent: { ok: false, ...errorAnswer(known) },
  };
}
