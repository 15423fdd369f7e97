import type { Protocol } from 'devtools-protocol';
import type { Captures } from '../../capture/captures.ts';
import type { ConsoleLevel, ConsoleSource } from '../../capture/console-log.ts';
import type { CdpEvent } from '../cdp-connection.ts';

/** Captures what pages and workers write to the console. */
export interface ConsoleCapture {
  /** Sets the type of a session's target. */
  addSession(sessionId: string, type: string): void;
  handle(event: CdpEvent, pageUrl: string): void;
}

const STACK_LINES_MAX = 10;

/** Writes into the console log. */
export function createConsoleCapture(captures: Captures): ConsoleCapture {
  const workers = new Set<string>();
  return {
    addSession(sessionId, type) {
      if (type !== 'iframe' && type !== 'page') workers.add(sessionId);
    },
    handle(event, pageUrl) {
      const isWorker = workers.has(event.sessionId ?? '');
      switch (event.method) {
        case 'Runtime.consoleAPICalled': {
          const { type, args, stackTrace } = event.params;
          if (type === 'clear' || type === 'endGroup') break;
          const level = LEVELS[type] ?? 'info';
          captures.console.add({
            level,
            text: formatArguments(args),
            source: isWorker ? 'worker' : 'console',
            ...locationOf(stackTrace?.callFrames[0], pageUrl),
            ...(level === 'error' ? stackOf(stackTrace) : {}),
          });
          break;
        }
        case 'Runtime.exceptionThrown':
          captures.console.add(exceptionMessage(event.params.exceptionDetails, pageUrl));
          break;
        case 'Log.entryAdded': {
          const { source, level, text, url, lineNumber, stackTrace } = event.params.entry;
          // The worker's own session reports it too, with more detail.
          if (source === 'worker') break;
          captures.console.add({
            level: LEVELS[level] ?? 'info',
            text: url === undefined || source !== 'network' ? text : `${text} (${url})`,
            source: LOG_SOURCES[source] ?? 'console',
            url: url ?? stackTrace?.callFrames[0]?.url ?? pageUrl,
            line: lineNumber === undefined ? null : lineNumber + 1,
            column: null,
          });
          break;
        }
        default:
      }
    },
  };
}

const LEVELS: Readonly<Record<string, ConsoleLevel>> = {
  assert: 'error',
  debug: 'debug',
  error: 'error',
  verbose: 'debug',
  warning: 'warning',
};

const LOG_SOURCES: Readonly<Record<string, ConsoleSource>> = {
  network: 'network',
  security: 'security',
};

function exceptionMessage(
  details: Protocol.Runtime.ExceptionDetails,
  pageUrl: string,
): Parameters<Captures['console']['add']>[0] {
  const { exception, text, lineNumber, columnNumber, url, stackTrace } = details;
  const description = exception === undefined ? text : formatValue(exception);
  const [first = ''] = description.split('\n');
  return {
    level: 'error',
    text: first === '' ? text : first,
    source: 'exception',
    // A script without a file has an empty URL.
    url: url || stackTrace?.callFrames[0]?.url || pageUrl,
    line: lineNumber + 1,
    column: columnNumber + 1,
    ...(description.includes('\n') ? { stack: description } : stackOf(stackTrace)),
    isRejection: text.includes('(in promise)'),
  };
}

function locationOf(
  frame: Protocol.Runtime.CallFrame | undefined,
  pageUrl: string,
): { readonly url: string; readonly line: number | null; readonly column: number | null } {
  if (frame === undefined) return { url: pageUrl, line: null, column: null };
  const { url, lineNumber, columnNumber } = frame;
  return { url: url === '' ? pageUrl : url, line: lineNumber + 1, column: columnNumber + 1 };
}

function stackOf(stack: Protocol.Runtime.StackTrace | undefined): { readonly stack?: string } {
  if (stack === undefined) return {};
  const lines = stack.callFrames
    .slice(0, STACK_LINES_MAX)
    .map(
      ({ functionName, url, lineNumber, columnNumber }) =>
        `at ${functionName || '<anonymous>'} (${url}:${lineNumber + 1}:${columnNumber + 1})`,
    );
  return { stack: lines.join('\n') };
}

/** The text of a console call, with the placeholders of its first argument filled in. */
function formatArguments(args: readonly Protocol.Runtime.RemoteObject[]): string {
  const [first, ...rest] = args;
  if (first?.type !== 'string' || rest.length === 0) return args.map(formatValue).join(' ');
  const text = formatValue(first).replace(/%([%cdfiosO])/g, (placeholder, kind: string) => {
    if (kind === '%') return '%';
    const value = rest.shift();
    if (value === undefined) return placeholder;
    // Styles have no text.
    return kind === 'c' ? '' : formatValue(value);
  });
  return [text, ...rest.map(formatValue)].join(' ');
}

/** A value as the console shows it. */
function formatValue(value: Protocol.Runtime.RemoteObject): string {
  if (value.type === 'string') return String(value.value);
  if (value.unserializableValue !== undefined) return value.unserializableValue;
  if (value.type === 'undefined') return 'undefined';
  if (value.subtype === 'null') return 'null';
  if (value.preview !== undefined && value.subtype !== 'error') return preview(value.preview);
  return value.description ?? JSON.stringify(value.value) ?? value.type;
}

function preview({
  subtype,
  properties,
  overflow,
  description,
  entries,
}: Protocol.Runtime.ObjectPreview): string {
  if (entries !== undefined || (properties.length === 0 && description !== 'Object'))
    return description ?? '';
  const rest = overflow ? ', …' : '';
  const valueOf = ({ type, value = '' }: Protocol.Runtime.PropertyPreview): string =>
    type === 'string' ? JSON.stringify(value) : value;
  if (subtype === 'array') return `[${properties.map(valueOf).join(', ')}${rest}]`;
  const name = description === 'Object' || description === undefined ? '' : `${description} `;
  return `${name}{${properties.map((each) => `${each.name}: ${valueOf(each)}`).join(', ')}${rest}}`;
}
