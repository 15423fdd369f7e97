import { commands } from '../../src/commands/index.ts';
import { callTool } from '../../src/servers/mcp/call-tool.ts';
import { toolCommands } from '../../src/servers/mcp/tool-list.ts';
import type { ToolUnderTest } from '../tool.ts';

/** What a tool answered: its text, and the same for programs. */
export interface ToolAnswer {
  readonly said: string;
  readonly isError: boolean;
  readonly structured: Readonly<Record<string, unknown>> | undefined;
}

/** Calls a tool of the MCP face in this process, on the browser that the HTTP face drives. */
export async function callMcp(
  { tool }: ToolUnderTest,
  name: string,
  args: object = {},
): Promise<ToolAnswer> {
  const command = toolCommands(commands).find((each) => each.tool.name === name);
  if (command === undefined) throw new Error(`there is no ${name}`);
  const open = () => Promise.resolve(tool);
  const answer = await callTool(command, args, open, new AbortController().signal);
  const [first] = answer.content;
  return {
    said: first?.type === 'text' ? first.text : '',
    isError: answer.isError === true,
    structured: answer.structuredContent,
  };
}
