import { isoTime } from './iso-time.ts';
import { redactText } from './redact.ts';

/** What is told of a request. Nothing in it needs to be redacted but an id that a caller has chosen. */
export interface RequestLine {
  readonly requestId: string;
  /** Whether we have chosen the id ourselves. */
  readonly isOwnId: boolean;
  readonly method: string;
  readonly route: string;
  /** What the answer said; 0 where there was none. */
  readonly status: number;
  readonly durationMs: number;
  readonly traceId?: string | undefined;
  /** Whether nobody waits to read of it: what orchestrators ask all day. */
  readonly isProbe: boolean;
}

/** Request lines on their way out: written some at a time, since a write costs more than the line. */
export interface RequestLines {
  add(level: 'debug' | 'info', line: RequestLine): void;
  /** Writes what waits, so that other lines come after it. */
  flush(): void;
}

interface RequestLinesOptions {
  readonly app: string;
  readonly write: (lines: string) => void;
}

const LINES_MAX = 64;
/** How long a line waits for others. */
const WAIT_MS = 100;

export function createRequestLines({ app, write }: RequestLinesOptions): RequestLines {
  const appText = JSON.stringify(app);
  let waiting = '';
  let count = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    if (count === 0) return;
    const lines = waiting;
    waiting = '';
    count = 0;
    clearTimeout(timer);
    timer = undefined;
    write(lines);
  }

  return {
    add(level, { requestId, isOwnId, method, route, status, durationMs, traceId }) {
      const id = isOwnId ? `"${requestId}"` : JSON.stringify(redactText(requestId));
      const trace = traceId === undefined ? '' : `"trace_id":"${traceId}",`;
      waiting +=
        `{"level":"${level}","time":"${isoTime(Date.now())}","app":${appText},` +
        `"request_id":${id},${trace}"method":"${method}","route":"${route}","status":${status},` +
        `"duration_ms":${Math.round(durationMs * 10) / 10},"msg":"request"}\n`;
      count += 1;
      if (count >= LINES_MAX) flush();
      else timer ??= setTimeout(flush, WAIT_MS).unref();
    },
    flush,
  };
}
