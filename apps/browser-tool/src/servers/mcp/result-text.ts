import { clipText } from '../../capture/clip-text.ts';
import { addressText } from '../../commands/address-text.ts';
import type { CommandData, ToolDefinition } from '../../commands/command.ts';
import type { DialogReport, DownloadReport, OpenedTab } from '../../engine.ts';
import { oneLine } from '../../one-line.ts';

interface Counts {
  readonly errors: number;
  readonly warnings: number;
}

const EVENT_LINES_MAX = 5;
const DIALOG_CHARS_MAX = 200;

/** The tools whose results include the page URL and title. */
const TOOLS_WITH_ADDRESS = new Set([
  'browser_navigate',
  'browser_navigate_back',
  'browser_navigate_forward',
  'browser_snapshot',
  'browser_click',
  'browser_type',
  'browser_press_key',
]);

/** The result of a tool as text for a model: the action, the page, and side effects such as dialogs. */
export function resultText<Params>(
  tool: Pick<ToolDefinition<Params>, 'name' | 'text'>,
  data: CommandData,
  params: Params,
  counts: Counts,
): string {
  const text = tool.text(data, params);
  const lines = [
    ...(TOOLS_WITH_ADDRESS.has(tool.name) ? addressLines(data, counts) : []),
    ...noteLines(data),
  ];
  // A snapshot is long, so the page URL and title come first.
  if (tool.name === 'browser_snapshot') return [...lines, '', text].join('\n');
  const snapshot = data['snapshot'];
  const tail = typeof snapshot === 'string' ? ['', snapshot] : [];
  return [text, ...lines, ...tail].join('\n');
}

function addressLines(data: CommandData, { errors, warnings }: Counts): readonly string[] {
  const { url, title, status, status_text: statusText } = data;
  const isSuccess = typeof status !== 'number' || (status >= 200 && status < 300);
  return [
    `- Page URL: ${addressText(url)}`,
    `- Page Title: ${oneLine(String(title))}`,
    ...(isSuccess
      ? []
      : [`- HTTP status: ${status}${typeof statusText === 'string' ? ` ${statusText}` : ''}`]),
    ...(errors + warnings > 0 ? [`- Console: ${errors} errors, ${warnings} warnings`] : []),
  ];
}

/** The dialogs and downloads in a result or in the details of an error. */
export function eventLines(data: CommandData): readonly string[] {
  const dialogs = (data['dialogs'] ?? []) as readonly DialogReport[];
  const downloads = (data['downloads'] ?? []) as readonly DownloadReport[];
  return [
    ...firstLines(dialogs.map(dialogLine), 'dialogs'),
    ...firstLines(downloads.map(downloadLine), 'downloads'),
  ];
}

/** The same for programs: a client that wants all of them asks with `allDialogs`. */
export function firstEvents(data: CommandData): CommandData {
  const dialogs = data['dialogs'] as readonly DialogReport[] | undefined;
  const downloads = data['downloads'] as readonly DownloadReport[] | undefined;
  return {
    ...data,
    ...(dialogs === undefined
      ? {}
      : { dialogs: dialogs.slice(0, EVENT_LINES_MAX).map(shortDialog) }),
    ...omitted('dialogs_omitted', dialogs),
    ...(downloads === undefined
      ? {}
      : { downloads: downloads.slice(0, EVENT_LINES_MAX).map(shortDownload) }),
    ...omitted('downloads_omitted', downloads),
  };
}

function omitted(name: string, list: readonly unknown[] = []): CommandData {
  return list.length > EVENT_LINES_MAX ? { [name]: list.length - EVENT_LINES_MAX } : {};
}

function shortDialog(dialog: DialogReport): DialogReport {
  return { ...dialog, message: clipText(dialog.message, DIALOG_CHARS_MAX) };
}

function shortDownload(download: DownloadReport): DownloadReport {
  return { ...download, url: addressText(download.url) };
}

/** A page may open as many dialogs as it likes. */
function firstLines(lines: readonly string[], what: string): readonly string[] {
  if (lines.length <= EVENT_LINES_MAX) return lines;
  const rest = lines.length - EVENT_LINES_MAX;
  return [...lines.slice(0, EVENT_LINES_MAX), `- … ${rest} more ${what}`];
}

function noteLines(data: CommandData): readonly string[] {
  const tab = data['opened_tab'] as OpenedTab | undefined;
  const pending = data['pending_url'];
  return [
    ...(pending === undefined
      ? []
      : [`- Navigation: ${addressText(pending)} has not responded yet; this is the page before`]),
    ...eventLines(data),
    ...(tab === undefined ? [] : [tabLine(tab)]),
    ...(data['restarted'] === true
      ? ['- Browser: it was restarted; earlier pages and refs are no longer valid']
      : []),
    ...(typeof data['snapshot_error'] === 'string'
      ? [`- Snapshot: the page could not be read: ${data['snapshot_error']}`]
      : []),
  ];
}

function tabLine({ url, closed }: OpenedTab): string {
  const state =
    closed === true ? 'was closed at once: too many tabs are open' : 'is the active page now';
  return `- Opened tab: ${addressText(url)} ${state}`;
}

function downloadLine({ filename, url }: DownloadReport): string {
  return `- Download: ${oneLine(filename)} was denied (${oneLine(addressText(url))})`;
}

function dialogLine(dialog: DialogReport): string {
  const { type, message, action } = shortDialog(dialog);
  const advice = action === 'dismissed' ? ' (pass dialog:"accept" to accept)' : '';
  return `- Dialog: ${type} ${JSON.stringify(message)} was ${action}${advice}`;
}
