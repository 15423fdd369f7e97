import { pino, type DestinationStream, type Logger } from 'pino';
import { withRemedy } from './log-remedy.ts';
import { redact, redactText } from './redact.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One finished request, as it is logged. */
export interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  /** The status of the response; 0 when there was none. */
  readonly status: number;
  readonly durationMs: number;
  readonly traceId?: string | undefined;
  /** Whether it is a probe of an orchestrator, which is logged at debug level only. */
  readonly isProbe: boolean;
}

/** Structured logging: the fields first, then a sentence. Secrets and prompts are removed from both. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
  fatal(fields: Fields, message: string): void;
  child(bindings: Fields): Log;
  request(line: RequestLine): void;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

interface LogOptions {
  readonly level: LogLevel;
  readonly app: string;
  /** Where the lines go; standard output by default. */
  readonly destination?: DestinationStream;
}

/** The log of one process: one JSON object per line. */
export function createLog({ level, app, destination }: LogOptions): Log {
  const logger = pino(
    {
      level,
      base: { app },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
  return wrap(logger);
}

/** A log that writes nothing. */
export const silentLog: Log = createLog({ level: 'silent', app: 'silent' });

function wrap(logger: Logger): Log {
  const write = (level: Exclude<LogLevel, 'silent'>) => (fields: Fields, message: string) => {
    if (!logger.isLevelEnabled(level)) return;
    logger[level](redact(fields), redactText(message));
  };
  const writeProblem = (level: 'warn' | 'error' | 'fatal') => {
    const writeFields = write(level);
    return (fields: Fields, message: string) => writeFields(withRemedy(fields), message);
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: writeProblem('warn'),
    error: writeProblem('error'),
    fatal: writeProblem('fatal'),
    child: (bindings) => wrap(logger.child(redact(bindings) as Record<string, unknown>)),
    request({ requestId, method, route, status, durationMs, traceId, isProbe }) {
      const level = isProbe ? 'debug' : 'info';
      if (!logger.isLevelEnabled(level)) return;
      const fields = {
        // A caller can choose it.
        request_id: redactText(requestId),
        trace_id: traceId,
        method,
        route,
        status,
        duration_ms: Math.round(durationMs * 10) / 10,
      };
      logger[level](fields, 'request');
    },
  };
}
