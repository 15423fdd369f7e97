import { AGENT_METHODS, HTTP_TUNNEL_VERSION } from '@model-gateway/contracts';
import { describeError, StartupError, type Log, type Part } from '@model-gateway/kernel';
import { createBackoff } from './backoff.ts';
import type { GpuAgentConfig } from './config.ts';
import { createEngines } from './engines.ts';
import { createGpuReader } from './gpus.ts';
import { dial, type Link, type LinkEnd } from './link.ts';
import { createLocalHttp } from './local-http.ts';
import { createNodeCalls } from './node-calls.ts';

export type { GpuAgentConfig } from './config.ts';

/** The daemon of a GPU node. */
export interface GpuAgent extends Part {
  /** Rejects when it makes no sense to go on: the node is not known to the gateway, or another has taken its place. */
  readonly failed: Promise<never>;
}

export function createGpuAgent(config: GpuAgentConfig, log: Log): GpuAgent {
  const { url, token, version, listenHost, environment } = config;
  const backoff = createBackoff();
  const readGpus = createGpuReader(environment);
  let link: Link | undefined;
  /** Connections to processes that stop: requests under way on them come to their end. */
  const retired = new Set<Link>();
  let beating: NodeJS.Timeout | undefined;
  let waiting: (() => void) | undefined;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);

  const engines = createEngines({
    specs: config.engines,
    host: listenHost,
    env: environment,
    onChange: () => void beat(),
    log,
  });
  const http = createLocalHttp({
    portOf: (modelId) => engines.portOf(modelId),
    host: listenHost,
    log,
  });
  const onCall = createNodeCalls(engines);

  /** What the gateway is told of this node, now. */
  async function state() {
    const gpus = await readGpus();
    return { gpus, models: engines.list() };
  }

  async function beat(): Promise<void> {
    const current = link;
    const told = await state();
    // The list may have changed while the GPUs were read, and the gateway may be another.
    if (current !== undefined && current === link)
      current.notify(AGENT_METHODS.heartbeat, { ...told, models: engines.list() });
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

  /** Answers why the connection ended; nothing when it goes on beside the next one. */
  async function connectOnce(): Promise<LinkEnd | undefined> {
    let onMove: () => void = () => undefined;
    const moved = new Promise<undefined>((resolve) => {
      onMove = () => resolve(undefined);
    });
    const dialled = dial({
      url,
      token,
      hello,
      onCall,
      onExchange: (head, exchange) => http.serve(head, exchange),
      onMove: () => onMove(),
      log,
    });
    link = dialled;
    dialled.welcomed.then(
      ({ heartbeatMs }) => {
        backoff.reset();
        log.info({ url }, 'connected');
        beating = setInterval(() => void beat(), heartbeatMs);
        // What changed between the hello and its answer.
        void beat();
      },
      () => undefined,
    );
    const end = await Promise.race([dialled.ended, moved]);
    clearInterval(beating);
    link = undefined;
    if (end === undefined) retire(dialled);
    return end;
  }

  function retire(old: Link): void {
    log.info({}, 'the gateway stops; connecting anew');
    retired.add(old);
    void old.ended.then(() => retired.delete(old));
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const end = await connectOnce();
      if (isStopped) return;
      if (end === undefined) continue;
      const { reason, isFinal } = end;
      if (isFinal) return fail(new StartupError(reason));
      const pauseMs = backoff.next();
      log.warn({ reason, retryInMs: Math.round(pauseMs) }, 'not connected');
      await pause(pauseMs);
    }
  }

  function pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      waiting = () => {
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
      waiting?.();
      // The gateway hears from the closing that nothing more comes; only then the models go.
      link?.close();
      for (const old of retired) old.close();
      await running;
      await Promise.all([...retired].map(({ ended }) => ended));
      await engines.stopAll();
    },
  };
}
