import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import type { AppContext } from '@model-gateway/server-process';
import {
  sendNotFound,
  sendRestError,
  sendText,
  createClientIp,
  createProbes,
  pathOf,
  type ServerApp,
} from '@model-gateway/http';
import { newId } from '@model-gateway/kernel';
import {
  AGENT_TUNNEL_PATH,
  createAgentCommands,
  createBackendAnnouncer,
} from '@model-gateway/router';
import type { AgentTunnelConfig } from './config.ts';
import { createAgentEndpoint, type AgentEndpoint } from './nodes/agent-endpoint.ts';
import { createFrameAllowances } from './nodes/frame-allowance.ts';
import { createHeartbeats } from './nodes/heartbeats.ts';
import { createProcessLiveness } from './nodes/process-liveness.ts';
import { createProgressStreams } from './models/progress-streams.ts';
import { createNodeRegistry, type NodeRegistry } from './nodes/registry.ts';
import { createHttpRelay } from './models/http-relay.ts';

export { agentTunnelSettings, type AgentTunnelConfig } from './config.ts';

const SECOND_MS = 1_000;
const AGENT_PATH = '/ws/agent';

/** A group of paths with one handler. */
interface Surface {
  /** The template of the paths, for metrics and logs. */
  readonly route: string;
  readonly accepts: (path: string) => boolean;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

interface AgentTunnelOptions {
  /** Whether no other process serves this installation: then none has to see that this one runs. */
  readonly isOnlyProcess?: boolean;
}

/** The endpoint that GPU nodes connect to, and the relay of requests to them. */
export function createAgentTunnel(
  config: AgentTunnelConfig,
  context: AppContext,
  { isOnlyProcess = false }: AgentTunnelOptions = {},
): ServerApp {
  const { database, bus, clock, log, metrics, stopping } = context;
  const { channels, entries, circuits, requests } = bus;
  const { agents, agentConnections: connections } = database;
  const { canTunnel = true } = config;
  const timeoutMs = config.agentTimeoutSecs * SECOND_MS;
  const streams = createProgressStreams({ channels, log });
  const refused = metrics
    .counter({
      name: 'service_agent_frames_refused_total',
      help: 'Frames of GPU nodes that were refused.',
    })
    .series({});
  const delayed = metrics
    .counter({
      name: 'service_agent_frames_delayed_total',
      help: 'How often nothing was read from a GPU node for a while, because it sent too much.',
    })
    .series({});
  const heartbeats = createHeartbeats({
    connections,
    entries,
    log,
    timeoutMs,
    onLost: (connectionId) => registry.onLost(connectionId),
  });
  const processId = newId();
  const liveness = createProcessLiveness({ processId, connections, requests, log });
  const registry: NodeRegistry = createNodeRegistry({
    processId,
    agents,
    connections,
    commands: createAgentCommands(requests),
    announcer: createBackendAnnouncer({ channels, entries, circuits, clock, log }),
    entries,
    heartbeats,
    streams,
    clock,
    log,
    heartbeatMs: config.agentHeartbeatSecs * SECOND_MS,
    timeoutMs,
    canTunnel,
    tunnelKey: context.agentTunnelKey,
    allowances: createFrameAllowances(),
    onRefused: () => refused.inc(),
    onDelayed: () => delayed.inc(),
  });
  metrics.gauge({
    name: 'service_agents_connected',
    help: 'GPU nodes connected to this process.',
    collect: (gauge) => gauge.set(registry.size),
  });
  metrics.gauge({
    name: 'service_agent_tunnel_exchanges',
    help: 'HTTP requests in progress through the tunnel.',
    collect: (gauge) => gauge.set(registry.exchanges),
  });
  const endpoint = createAgentEndpoint({
    connections,
    registry,
    clientIp: createClientIp(config.trustProxy),
    origin: config.agentTunnelUrl?.replace(/\/+$/, ''),
    log,
  });
  const relay = createHttpRelay({ registry, tunnelKey: context.agentTunnelKey, log });
  const handleProbe = createProbes({ buildHash: config.buildHash, ...context });

  const surfaces: readonly Surface[] = [
    {
      route: AGENT_PATH,
      accepts: (path) => path === AGENT_PATH,
      handle: (request, response) => respondWithoutUpgrade(endpoint, request, response),
    },
    { route: `${AGENT_TUNNEL_PATH}/{agent}`, ...relay },
  ];

  // With a load balancer, nodes first connect to another replica; those with a request in progress stay until it ends.
  const onStopping = (): void => {
    endpoint.close();
    registry.drain(config.drainDelaySecs * SECOND_MS);
  };
  stopping.addEventListener('abort', onStopping, { once: true });

  return {
    name: 'agent-tunnel',
    routes: surfaces.map(({ route }) => route),
    async start() {
      if (!canTunnel)
        log.warn(
          {},
          'SERVICE_ENCRYPTION_KEY is not set: nodes that gateways cannot reach directly get no requests',
        );
      await streams.start();
      if (!isOnlyProcess) await liveness.start();
    },
    async stop() {
      endpoint.close();
      await registry.stop();
      await heartbeats.stop();
      if (!isOnlyProcess) await liveness.stop();
      await streams.stop();
    },
    handle(request, response) {
      const path = pathOf(request);
      if (handleProbe(path, request, response)) return;
      const surface = surfaces.find(({ accepts }) => accepts(path));
      if (surface === undefined) sendNotFound(request, response, log);
      else
        surface
          .handle(request, response)
          .catch((error: unknown) => sendRestError(error, request, response, log));
    },
    upgrade(request, socket, head) {
      if (pathOf(request) === AGENT_PATH) endpoint.upgrade(request, socket, head);
      else socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
    },
  };
}

/** Responds to a request without a WebSocket upgrade: whether the token is valid, and that an upgrade is required. */
async function respondWithoutUpgrade(
  endpoint: Pick<AgentEndpoint, 'authenticate'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if ((await endpoint.authenticate(request)) === undefined)
    throw new ServiceError('authentication_required', 'unknown agent token');
  response.setHeader('upgrade', 'websocket');
  sendText(response, 426, 'WebSocket upgrade required');
}
