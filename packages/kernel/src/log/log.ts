import { pino, type DestinationStream, type Logger } from 'pino';
import { createLogOutput, type LogOutput } from './log-output.ts';
import { withRemedy } from './log-remedy.ts';
import { redact, redactText } from './redact.ts';
import { openStandardOutput } from './standard-output.ts';
import { terminalLine } from './terminal-line.ts';

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
  /** Whether a person reads the lines in a terminal; known of standard output. */
  readonly isTerminal?: boolean;
}

let formattedAt = 0;
let formatted = '';

/**
 * The log of one process: one JSON object per line. In a terminal each is a short line, and requests, of which there are many, are
 * logged at debug level only.
 */
export function createLog({
  level,
  app,
  destination,
  isTerminal = destination === undefined && process.stdout.isTTY,
}: LogOptions): Log {
  const output = createLogOutput(
    destination ?? openStandardOutput(),
    isTerminal ? terminalLine : undefined,
  );
  const logger = pino(
    {
      level,
      base: { app },
      timestamp: () => `,"time":"${isoNow()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  return wrap(logger, output, { app }, isTerminal ? 'debug' : 'info');
}

/** A log that writes nothing. */
export const silentLog: Log = createLog({ level: 'silent', app: 'silent' });

/** The same text for all lines of a millisecond. */
function isoNow(): string {
  const now = Date.now();
  if (now !== formattedAt) {
    formattedAt = now;
    formatted = new Date(now).toISOString();
  }
  return formatted;
}

function wrap(
  logger: Logger,
  output: LogOutput,
  bound: Fields,
  requestLevel: 'debug' | 'info',
): Log {
  const boundText = JSON.stringify(bound).slice(1, -1);
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
    child(bindings) {
      const clean = redact(bindings) as Record<string, unknown>;
      return wrap(logger.child(clean), output, { ...bound, ...clean }, requestLevel);
    },
    // There is one for every request, so that it is written without the logger.
    request({ requestId, method, route, status, durationMs, traceId, isProbe }) {
      const level = isProbe ? 'debug' : requestLevel;
      if (!logger.isLevelEnabled(level)) return;
      // A caller can choose it.
      const id = JSON.stringify(redactText(requestId));
      const trace = traceId === undefined ? '' : `,"trace_id":${JSON.stringify(traceId)}`;
      const ms = Math.round(durationMs * 10) / 10;
      output.writeSoon(
        `{"level":"${level}","time":"${isoNow()}",${boundText},"request_id":${id}${trace},` +
          `"method":${JSON.stringify(method)},"route":${JSON.stringify(route)},` +
          `"status":${status},"duration_ms":${ms},"msg":"request"}\n`,
      );
    },
  };
}
