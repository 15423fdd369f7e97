import { AGENT_METHODS, HTTP_TUNNEL_VERSION } from '@model-gateway/contracts';
import {
  createDeferred,
  describeError,
  StartupError,
  type Log,
  type Part,
} from '@model-gateway/kernel';
import { createBackoff } from './backoff.ts';
import type { GpuAgentConfig } from './config.ts';
import { createEngines } from './engines.ts';
import { createGpuReader } from './gpus.ts';
import { openLink, type Link, type LinkEnd } from './link.ts';
import { createLocalHttp } from './local-http.ts';
import { createNodeCalls } from './node-calls.ts';

export type { GpuAgentConfig } from './config.ts';

/** Replicas of a gateway stop one after another; an old connection beyond these closes, also with requests in progress. */
const RETIRED_MAX = 8;
const MOVED_AGAIN: LinkEnd = {
  reason: 'the gateway asked for another connection too soon',
  isFinal: false,
};

/** The daemon of a GPU node. */
export interface GpuAgent extends Part {
  /** Rejects when reconnecting cannot succeed: the gateway does not know the node, or another process replaced it. */
  readonly failed: Promise<never>;
}

export function createGpuAgent(config: GpuAgentConfig, log: Log): GpuAgent {
  const { url, token, version, listenHost, environment } = config;
  const backoff = createBackoff();
  const readGpus = createGpuReader(environment);
  let link: Link | undefined;
  /** Connections to gateway processes that are stopping; they stay until their requests have finished. */
  const retired = new Set<Link>();
  let heartbeatTimer: NodeJS.Timeout | undefined;
  let endPause: (() => void) | undefined;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  const { promise: failed, reject: fail } = createDeferred<never>();

  const engines = createEngines({
    specs: config.engines,
    host: listenHost,
    env: environment,
    onChange: () => void sendHeartbeat(),
    log,
  });
  const http = createLocalHttp({
    portOf: (modelId) => engines.portOf(modelId),
    host: listenHost,
    log,
  });
  const onCall = createNodeCalls(engines);

  /** The current state of this node for the gateway. */
  async function state() {
    const gpus = await readGpus();
    return { gpus, models: engines.list() };
  }

  async function sendHeartbeat(): Promise<void> {
    const current = link;
    const report = await state();
    // While the GPUs were read, the models and the connection may have changed.
    if (current !== undefined && current === link)
      current.notify(AGENT_METHODS.heartbeat, { ...report, models: engines.list() });
  }

  async function hello() {
    return {
      version,
      ...(config.advertisedHost === undefined ? {} : { host: config.advertisedHost }),
      tunnel: HTTP_TUNNEL_VERSION,
      moves: true,
      ...(await state()),
    };
  }

  /** Returns why the connection ended; undefined when it stays open beside the next one. */
  async function connectOnce(): Promise<LinkEnd | undefined> {
    const moved = createDeferred<undefined>();
    let lastedFrom = Infinity;
    const opened = openLink({
      url,
      token,
      hello,
      onCall,
      onExchange: (head, exchange) => http.serve(head, exchange),
      onMove: () => moved.resolve(undefined),
      log,
    });
    link = opened;
    opened.welcomed.then(
      ({ heartbeatMs }) => {
        if (link !== opened) return;
        lastedFrom = performance.now() + heartbeatMs;
        log.info({ url }, 'connected');
        heartbeatTimer = setInterval(() => void sendHeartbeat(), heartbeatMs);
        // Reports what changed between the hello and its response.
        void sendHeartbeat();
      },
      () => undefined,
    );
    const end = await Promise.race([opened.ended, moved.promise]);
    clearInterval(heartbeatTimer);
    link = undefined;
    if (performance.now() >= lastedFrom) backoff.reset();
    if (end === undefined) retire(opened);
    return end;
  }

  function retire(old: Link): void {
    log.info({}, 'the gateway is stopping; reconnecting');
    retired.add(old);
    void old.ended.then(() => retired.delete(old));
    const [oldest] = retired;
    if (retired.size > RETIRED_MAX) oldest?.close();
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const end = await connectOnce();
      if (isStopped) return;
      // A move is followed immediately, except by one move after another.
      const isFirst = backoff.isFresh;
      const pauseMs = backoff.next();
      if (end === undefined && isFirst) continue;
      const { reason, isFinal } = end ?? MOVED_AGAIN;
      if (isFinal) return fail(new StartupError(reason));
      log.warn(
        { reason, retryInMs: Math.round(pauseMs) },
        'not connected to the gateway; trying again later',
      );
      await pause(pauseMs);
    }
  }

  function pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return {
    name: 'gpu-agent',
    failed,
    async start() {
      running = run().catch((error: unknown) => fail(new Error(describeError(error))));
    },
    async stop() {
      isStopped = true;
      endPause?.();
      // The connection closes before the models stop, so that the gateway sends no more requests.
      link?.close();
      for (const old of retired) old.close();
      await running;
      await Promise.all([...retired].map(({ ended }) => ended));
      await engines.stopAll();
    },
  };
}
