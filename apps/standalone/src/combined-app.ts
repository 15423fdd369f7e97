import { pathOf, type ServerApp } from '@model-gateway/http';
import type { Log } from '@model-gateway/kernel';
import { AGENT_TUNNEL_PATH } from '@model-gateway/router';

interface CombinedApps {
  readonly gateway: ServerApp;
  readonly rpc: ServerApp;
  readonly agentTunnel: ServerApp;
  /** It has no paths of its own here: the gateway serves the probes. Undefined where it runs elsewhere. */
  readonly videoWorker?: ServerApp | undefined;
}

const RPC_PATHS = /^\/(?:api\/usage\.csv$|(?:api\/rpc|api\/session|auth\/oidc)(?:\/|$))/;

/** Every server app on one port, routed by path like an ingress does. */
export function combineApps(
  { gateway, rpc, agentTunnel, videoWorker }: CombinedApps,
  log: Log,
): ServerApp {
  const startOrder = [
    ...(videoWorker === undefined ? [] : [videoWorker]),
    agentTunnel,
    rpc,
    gateway,
  ];

  function ownerOf(path: string): ServerApp {
    if (RPC_PATHS.test(path)) return rpc;
    if (path === '/ws/agent' || path.startsWith(`${AGENT_TUNNEL_PATH}/`)) return agentTunnel;
    return gateway;
  }

  return {
    name: 'apps',
    routes: startOrder.flatMap(({ routes }) => routes),
    ...(gateway.origins === undefined ? {} : { origins: gateway.origins }),
    leanPaths: new Set(startOrder.flatMap(({ leanPaths = [] }) => [...leanPaths])),
    async start() {
      for (const app of startOrder) await app.start();
    },
    async stop() {
      for (const app of startOrder.toReversed()) {
        await app
          .stop()
          .catch((error: unknown) =>
            log.error({ app: app.name, error }, 'an app did not stop cleanly'),
          );
      }
    },
    handle(request, response) {
      ownerOf(pathOf(request)).handle(request, response);
    },
    upgrade(request, socket, head) {
      const owner = ownerOf(pathOf(request));
      if (owner.upgrade === undefined)
        socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
      else owner.upgrade(request, socket, head);
    },
  };
}
