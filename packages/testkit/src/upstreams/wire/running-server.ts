import type { Changes } from '../recording/changes.ts';
import type { Listener } from './listener.ts';

/** The common methods of running servers. */
export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Stops listening: connections are refused until `resume`. */
  refuse(): Promise<void>;
  /** Listens again on the same port. */
  resume(): Promise<void>;
  /** Closes every connection and continues to listen. */
  dropConnections(): void;
  /** Resolves as soon as a condition on the server's records is true. */
  until(condition: () => boolean, timeoutMs?: number): Promise<void>;
  /** Closes every connection and stops listening. */
  close(): Promise<void>;
}

export function runningServer(
  scheme: 'http' | 'ws',
  listener: Listener,
  changes: Changes,
): RunningServer {
  return {
    url: `${scheme}://${listener.host}:${listener.port}`,
    port: listener.port,
    refuse: () => listener.refuse(),
    resume: () => listener.resume(),
    dropConnections: () => listener.dropConnections(),
    until: (condition, timeoutMs) => changes.until(condition, timeoutMs),
    close: () => listener.close(),
  };
}
