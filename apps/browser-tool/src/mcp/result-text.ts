import type { CommandData, ToolDefinition } from '../commands/command.ts';
import { oneLine } from '../commands/snapshot-text.ts';
import type { DialogReport, DownloadReport } from '../engine.ts';

interface Counts {
  readonly errors: number;
  readonly warnings: number;
}

/** Which answers say where the page is: those of tools that read or move it. */
const PLACES = new Set([
  'browser_navigate',
  'browser_navigate_back',
  'browser_navigate_forward',
  'browser_snapshot',
  'browser_click',
  'browser_type',
  'browser_press_key',
]);

/** The answer of a tool as a model reads it: what was done, where the page is, and what happened besides. */
export function resultText<Params>(
  tool: Pick<ToolDefinition<Params>, 'name' | 'text'>,
  data: CommandData,
  params: Params,
  counts: Counts,
): string {
  const told = tool.text(data, params);
  const lines = [...(PLACES.has(tool.name) ? placeLines(data, counts) : []), ...noteLines(data)];
  // A snapshot is long: where the page is comes first.
  if (tool.name === 'browser_snapshot') return [...lines, '', told].join('\n');
  const snapshot = data['snapshot'];
  const tail = typeof snapshot === 'string' ? ['', snapshot] : [];
  return [told, ...lines, ...tail].join('\n');
}

function placeLines(data: CommandData, { errors, warnings }: Counts): readonly string[] {
  const { url, title, status, status_text: statusText } = data;
  const isWell = typeof status !== 'number' || (status >= 200 && status < 300);
  return [
    `- Page URL: ${String(url)}`,
    `- Page Title: ${oneLine(String(title))}`,
    ...(isWell
      ? []
      : [`- HTTP status: ${status}${typeof statusText === 'string' ? ` ${statusText}` : ''}`]),
    ...(errors + warnings > 0 ? [`- Console: ${errors} errors, ${warnings} warnings`] : []),
  ];
}

/** What the page did meanwhile, of answers and of the details of failures. */
export function eventLines(data: CommandData): readonly string[] {
  const dialogs = (data['dialogs'] ?? []) as readonly DialogReport[];
  const downloads = (data['downloads'] ?? []) as readonly DownloadReport[];
  return [
    ...dialogs.map(dialogLine),
    ...downloads.map(
      ({ filename, url }) => `- Download: ${oneLine(filename)} was denied (${oneLine(url)})`,
    ),
  ];
}

function noteLines(data: CommandData): readonly string[] {
  const tab = data['opened_tab'] as { readonly url: string } | undefined;
  return [
    ...eventLines(data),
    ...(tab === undefined ? [] : [`- Opened tab: ${tab.url} is the active page now`]),
    ...(data['restarted'] === true
      ? ['- Browser: it was restarted; pages and refs of before are gone']
      : []),
  ];
}

function dialogLine({ type, message, action }: DialogReport): string {
  const advice = action === 'dismissed' ? ' (pass dialog:"accept" to accept)' : '';
  return `- Dialog: ${type} ${JSON.stringify(message)} was ${action}${advice}`;
}
