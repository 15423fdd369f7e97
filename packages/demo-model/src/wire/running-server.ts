import type { Changes } from '../recording/changes.ts';
import type { Listener } from './listener.ts';

/** What every little server can do once it runs. */
export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Stops listening: connections are refused until `resume`. */
  refuse(): Promise<void>;
  /** Listens again on the same port. */
  resume(): Promise<void>;
  /** Ends every open connection and goes on listening. */
  dropConnections(): void;
  /** Resolves as soon as the condition, over anything this server records, holds. */
  until(condition: () => boolean, timeoutMs?: number): Promise<void>;
  /** Ends every connection and stops listening. */
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
