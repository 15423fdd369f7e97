import { pino, type DestinationStream, type Logger } from 'pino';
import { redact, redactText } from './redact.ts';
import { createRequestLines, type RequestLine, type RequestLines } from './request-lines.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Structured logging: the fields first, then a sentence. Secrets and prompts are removed from both. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
  fatal(fields: Fields, message: string): void;
  child(bindings: Fields): Log;
  /** Logs one finished request; cheap enough to be called for each. */
  request(line: RequestLine): void;
  /** Writes the buffered request lines. */
  flush(): void;
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
  const stream = destination ?? pino.destination({ dest: 1, sync: true });
  const logger = pino(
    {
      level,
      base: { app },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return wrap(logger, createRequestLines({ app, write: (lines) => stream.write(lines) }));
}

/** A log that writes nothing. */
export const silentLog: Log = createLog({ level: 'silent', app: 'silent' });

function wrap(logger: Logger, requests: RequestLines): Log {
  const write = (level: Exclude<LogLevel, 'silent'>) => (fields: Fields, message: string) => {
    if (!logger.isLevelEnabled(level)) return;
    requests.flush();
    logger[level](redact(fields), redactText(message));
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
    child: (bindings) => wrap(logger.child(redact(bindings) as Record<string, unknown>), requests),
    request(line) {
      const level = line.isProbe ? 'debug' : 'info';
      if (logger.isLevelEnabled(level)) requests.add(level, line);
    },
    flush: () => requests.flush(),
  };
}
