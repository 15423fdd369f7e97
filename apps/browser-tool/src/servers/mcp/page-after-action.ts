import { a11y } from '../../commands/a11y.ts';
import type { CommandContext, CommandData } from '../../commands/command.ts';
import { ToolError } from '../../errors.ts';

/**
 * Adds a snapshot of the page to the result of an action, and what happened on the page meanwhile. The action is done: if its page
 * cannot be read, the result says so instead of a failure, which would make the caller repeat the action.
 */
export async function withSnapshot(
  data: CommandData,
  context: CommandContext,
): Promise<CommandData> {
  try {
    const { text, url, title, ...after } = await a11y.run(
      a11y.params.parse({ format: 'text' }),
      context,
    );
    return { ...withEvents(data, after), url, title, snapshot: text };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { code, sentence, details = {} } = error;
    return { ...withEvents(data, details), snapshot_error: `${code}: ${sentence}` };
  }
}

/** Adds the events of the snapshot to those of the action. */
function withEvents(data: CommandData, after: CommandData): CommandData {
  const both = (field: string): CommandData => {
    const list = [data[field], after[field]].flatMap((each) => (each ?? []) as readonly unknown[]);
    return field in data || list.length > 0 ? { [field]: list } : {};
  };
  const later = ['opened_tab', 'restarted'].filter((field) => field in after);
  return {
    ...data,
    ...both('dialogs'),
    ...both('downloads'),
    ...Object.fromEntries(later.map((field) => [field, after[field]])),
  };
}
