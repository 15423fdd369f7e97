import { describeError, type Log } from '@model-gateway/kernel';
import type { Backend, KindFacts } from '@model-gateway/router';
import { upstreamFailed } from '../errors/upstream-error.ts';
import { isPortOpen } from './is-port-open.ts';

interface BridgedBackendOptions {
  readonly name: string;
  readonly kind: string;
  readonly facts: KindFacts;
  /** Requests the local port of the tunnel from the bridge agent. */
  readonly resolve: () => Promise<number>;
  /** Builds the backend at the end of the tunnel. */
  readonly build: (port: number) => Backend;
  readonly keepaliveMs: number;
  readonly log: Log;
  /** Called when the backend has moved to a new local port and should be probed. */
  readonly onMoved: (name: string) => void;
}

/** A backend behind the bridge. */
export interface BridgedBackend {
  /** The same object while it is registered, even if the tunnel moves. */
  readonly backend: Backend;
  /** Resolves the tunnel now; rejects when the bridge cannot be reached. */
  connect(): Promise<void>;
  /** Resolves the tunnel as soon as the bridge can be reached, then calls `onMoved`. */
  connectLater(): void;
}

const PORT_TIMEOUT_MS = 2000;

/** Checks a tunnel at every interval, and follows it to another port. */
export function createBridgedBackend(options: BridgedBackendOptions): BridgedBackend {
  const { name, log } = options;
  let current = unreachable(options, 'the bridge was not reached yet');
  let port: number | undefined;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const resolved = await options.resolve();
    if (isClosed || resolved === port) return;
    const replaced = current;
    current = options.build(resolved);
    port = resolved;
    await replaced.close();
  }
  async function checkTunnel(): Promise<void> {
    if (port !== undefined && (await isPortOpen(port, PORT_TIMEOUT_MS))) return;
    const before = port;
    try {
      await connect();
    } catch (error) {
      const reason = describeError(error);
      if (port === undefined) current = unreachable(options, reason);
      log.warn({ backend: name, reason }, 'the tunnel of a backend is down');
    }
    if (isClosed || port === before) return;
    log.info({ backend: name, port }, 'the tunnel of a backend is back');
    options.onMoved(name);
  }
  function schedule(): void {
    if (isClosed) return;
    timer = setTimeout(() => void checkTunnel().finally(schedule), options.keepaliveMs);
    timer.unref();
  }
  async function close(): Promise<void> {
    isClosed = true;
    clearTimeout(timer);
    await current.close();
  }

  return {
    backend: proxyTo(() => current, close),
    async connect() {
      await connect();
      schedule();
    },
    connectLater: () => void checkTunnel().finally(schedule),
  };
}

/** A stable object with the methods of the current backend. */
function proxyTo(current: () => Backend, close: () => Promise<void>): Backend {
  return new Proxy(current(), {
    get: (_target, property) =>
      property === 'close' ? close : (Reflect.get(current(), property) as unknown),
    has: (_target, property) => Reflect.has(current(), property),
  });
}

function unreachable(
  { name, kind, facts }: Pick<BridgedBackendOptions, 'name' | 'kind' | 'facts'>,
  reason: string,
): Backend {
  return {
    name,
    kind,
    facts,
    capabilities: () => new Set(),
    probe: () => Promise.reject(upstreamFailed(reason)),
    close: async () => undefined,
  };
}
