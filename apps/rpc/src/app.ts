import type { IncomingMessage, ServerResponse } from 'node:http';
import { openRpcDocument } from '@model-gateway/contracts';
import type { AppContext } from '@model-gateway/server-process';
import {
  sendNotFound,
  sendRestError,
  createClientIp,
  createCors,
  createMeasuredBodyMemory,
  createProbes,
  createSameOriginCheck,
  pathOf,
  SERVICE_VERSION,
  type BodyMemory,
  type ServerApp,
} from '@model-gateway/http';
import { createServiceRuntime, type ServiceRuntime } from '@model-gateway/service';
import { createKeepBodies } from '@model-gateway/inference';
import { createChatStreams } from './chat/chat-streams.ts';
import type { RpcConfig } from './config.ts';
import { warnAboutFirstAccount } from './first-account-warning.ts';
import { createOidcRoutes } from './oidc/oidc-routes.ts';
import { warnAboutOidc } from './oidc/warn-about-oidc.ts';
import { createAuditedCalls } from './audit/audited-calls.ts';
import { createAdminTokenCheck, createAuthorize } from './protocol/authorize.ts';
import { createCallObserver } from './protocol/call-observer.ts';
import { createCallPlaces } from './protocol/call-places.ts';
import { createDispatcher } from './protocol/dispatcher.ts';
import { createDocumentError } from './protocol/error-docs.ts';
import { createRealtimeSessions } from './realtime/realtime-sessions.ts';
import { createServices } from './services.ts';
import { createRequestWatches } from './spend/request-watches.ts';
import { createUsageCsv } from './spend/usage-csv.ts';
import { createSessions } from './sessions/sessions.ts';
import { createConnectionPlaces } from './transports/connection-places.ts';
import { createClientOf } from './transports/client-of.ts';
import { createHttpTransport } from './transports/http.ts';
import { createSseTransport } from './transports/sse.ts';
import { createWebSocketTransport } from './transports/websocket.ts';
import { createSessionCookie } from './web-session/session-cookie.ts';
import { createWebSession } from './web-session/web-session.ts';

export type { RpcConfig } from './config.ts';
export { accountSettings } from './config.ts';
export { checkOidcSettings } from '@model-gateway/oidc';

const MS_PER_SEC = 1000;

interface RpcOptions {
  /** Shared by several apps of one process; its creator then starts and stops it. */
  readonly runtime?: ServiceRuntime;
  /** Shared by the apps of one process. */
  readonly bodyMemory?: BodyMemory;
}

/** The JSON-RPC management plane: one set of methods, two transports, and the event stream. */
export function createRpc(
  config: RpcConfig,
  context: AppContext,
  options: RpcOptions = {},
): ServerApp {
  const runtime = options.runtime ?? createServiceRuntime(config, context);
  const { database, bus, log, metrics, tracing, stopping } = context;
  const sessions = createSessions({ channels: bus.channels, entries: bus.entries, log });
  const { conversations } = database;
  const keepBodies = config.logBodies ? createKeepBodies({ ...runtime, ...context }) : undefined;
  const chatStreams = createChatStreams({
    ...runtime,
    calls: bus.requests,
    entries: bus.entries,
    sessions,
    keepBodies,
    clock: context.clock,
    metrics,
    log,
  });
  const realtime = createRealtimeSessions({
    requests: bus.requests,
    entries: bus.entries,
    runtime,
    conversations,
    sessions,
    metrics,
    log,
  });
  const requestWatches = createRequestWatches({
    channels: bus.channels,
    sessions,
    clock: context.clock,
  });
  const bodyMemory =
    options.bodyMemory ?? createMeasuredBodyMemory(config.requestBodiesBytesMax, metrics);
  const { services, within } = createServices(config, context, runtime, {
    chatStreams,
    realtime,
    sessions,
    requestWatches,
    bodyMemory,
  });
  const { accounts, signInEnds } = services;
  const stopEndingSessions = signInEnds.onEnd((end) => realtime.endSignedOut(end));
  const isAdminToken = createAdminTokenCheck(config.adminToken);
  const clientOf = createClientOf(createClientIp(config.trustProxy));
  const places = createConnectionPlaces({
    admission: bus.admission,
    perAddressMax: config.anonymousPerAddressMax,
    perUserMax: config.callsPerUserMax,
    log,
  });
  // Built on the first request: most processes never serve it.
  let discovery: string | undefined;
  const perform = createAuditedCalls({ database, services, within });
  const callPlaces = createCallPlaces({
    perUserMax: config.rpcCallsPerUserMax,
    signInOf: (bearer) => accounts.signInOf(bearer),
    isAdminToken,
  });
  const dispatcher = createDispatcher({
    perform,
    places: callPlaces,
    authorize: createAuthorize({
      accounts,
      groups: services.groupRules.access,
      isAdminToken,
    }),
    observe: createCallObserver({ metrics, tracing, log }),
    documentError: createDocumentError(config.publicUrl),
    discover: () => (discovery ??= JSON.stringify(openRpcDocument({ version: SERVICE_VERSION }))),
    log,
  });
  const http = createHttpTransport({
    dispatcher,
    sessions,
    accounts,
    isAdminToken,
    clientOf,
    bodyMemory,
    sessionAuth: config.sessionAuth,
    log,
  });
  const sse = createSseTransport({
    sessions,
    accounts,
    signInEnds,
    clientOf,
    places,
    metrics,
    sessionAuth: config.sessionAuth,
    endOfLost: async (streamId) =>
      (await chatStreams.endOfLost(streamId)) ?? realtime.endOfLost(streamId),
  });
  const webSocket = createWebSocketTransport({
    dispatcher,
    accounts,
    signInEnds,
    isAdminToken,
    clientOf,
    places,
    bodyMemory,
    anonymousIdleMs: config.anonymousIdleSecs * MS_PER_SEC,
    metrics,
    log,
  });
  const sessionCookie = createSessionCookie({ ...config, jwtSecret: context.jwtSecret });
  const cors = createCors(config.corsOrigins);
  const handleProbe = createProbes({ buildHash: config.buildHash, ...context });
  const surfaces: Readonly<
    Record<string, (request: IncomingMessage, response: ServerResponse) => Promise<void>>
  > = {
    '/api/rpc': http,
    '/api/rpc/events': (request, response) => sse.handle(request, response),
    ...createWebSession({
      accounts,
      perform,
      places: callPlaces,
      cookie: sessionCookie,
      isSameOrigin: createSameOriginCheck(config),
      isAdminToken,
      clientOf,
      users: services.users,
      registrationOpen: config.registrationOpen,
      firstAdmin: config.firstAdmin,
      oidcIssuer: config.oidcIssuer,
    }),
    '/api/usage.csv': createUsageCsv({
      accounts,
      places: callPlaces,
      clientOf,
      summarize: services.summarizeSpend,
    }),
    ...createOidcRoutes({ ...context, config, accounts, sessionCookie, clientOf }),
  };
  // Event streams and sockets never end by themselves, so draining ends those without pending events.
  const onStopping = (): void => {
    void webSocket.close();
    chatStreams.drain();
    void realtime.close();
    sse.drain((sessionId) => chatStreams.isRunning(sessionId));
  };
  stopping.addEventListener('abort', onStopping, { once: true });

  return {
    name: 'rpc',
    routes: Object.keys(surfaces),
    origins: config,
    async start() {
      await signInEnds.start();
      await sessions.start();
      await requestWatches.start();
      if (options.runtime === undefined) await runtime.start();
      warnAboutOidc(config, log);
      await warnAboutFirstAccount(config, services.users, log);
    },
    async stop() {
      stopping.removeEventListener('abort', onStopping);
      await Promise.all([chatStreams.stop(), realtime.close()]);
      sse.close();
      await webSocket.close();
      places.close();
      await requestWatches.stop();
      await sessions.stop();
      stopEndingSessions();
      await signInEnds.stop();
      if (options.runtime === undefined) await runtime.stop();
    },
    handle(request, response) {
      const path = pathOf(request);
      if (cors(request, response)) return;
      if (handleProbe(path, request, response)) return;
      const surface = Object.hasOwn(surfaces, path) ? surfaces[path] : undefined;
      if (surface === undefined) sendNotFound(request, response, log);
      else
        surface(request, response).catch((error: unknown) =>
          sendRestError(error, request, response, log),
        );
    },
    upgrade(request, socket, head) {
      if (pathOf(request) === '/api/rpc') webSocket.upgrade(request, socket, head);
      else socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
    },
  };
}
