import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createBackendAdmin } from '@model-gateway/backends';
import { createAnswerCache, createKeepBodies } from '@model-gateway/inference';
import type { AppContext } from '@model-gateway/server-process';
import {
  createClientIp,
  createCors,
  createLeanRoutes,
  createMeasuredBodyMemory,
  createProbes,
  createUploadFiles,
  pathOf,
  setErrorForms,
  STORED_ITEMS_MAX,
  validated,
  type BodyMemory,
  type ServerApp,
} from '@model-gateway/http';
import {
  CLIENT_APIS,
  countTokensRequest,
  messagesDialect,
  responsesApi,
  responsesDialect,
} from '@model-gateway/dialects';
import { createExpressApp } from '@model-gateway/http/express';
import {
  createCachedKeys,
  createServiceRuntime,
  createSignIns,
  type ServiceRuntime,
} from '@model-gateway/service';
import { Router } from 'express';
import { createAdminAudit } from './admin/admin-audit.ts';
import { createAdminCheck } from './admin/admin-check.ts';
import { serveAliases } from './admin/aliases.ts';
import { serveAuditExport } from './admin/audit-export.ts';
import { serveBackends } from './admin/backends.ts';
import { createConsoleFiles } from './console/console-files.ts';
import { CONSOLE_ROUTES, createConsoleRoutes } from './console/console-routes.ts';
import { createCountTokensRoute } from './dialects/count-tokens.ts';
import { serveUsageQuery } from './admin/usage-query.ts';
import { createConversationCheck } from './conversation-check.ts';
import type { GatewayConfig } from './config.ts';
import { createDialectRoute } from './dialects/dialect-route.ts';
import { administration } from './operations/administration.ts';
import { OPERATIONS } from './operations/all.ts';
import { inference } from './operations/inference.ts';
import { createServeOperation } from './operations/serve-operation.ts';
import { createDocsRoutes, DOCS_ROUTES } from './docs/routes.ts';
import { createFreeRequests } from './surface/free-requests.ts';
import { createModelListing } from './openai/model-listing.ts';
import { createHttpAdmission } from './surface/http-admission.ts';
import { createHttpCalls, type CallRoute } from './surface/http-call.ts';
import { createIdentities } from './surface/identity.ts';
import { sendError } from './surface/refusals.ts';
import { createRequestLimiter } from './surface/request-limiter.ts';
import { createSharedRequestLimiter } from './surface/shared-request-limiter.ts';
import { createEmbeddingsRoute } from './routes/embeddings.ts';
import { createModelRoute } from './routes/model.ts';
import { createModelsRoute } from './routes/models.ts';
import { modelsErrorWriter } from './dialects/messages-models.ts';
import { createRelayRoutes } from './routes/relayed.ts';
import { createUploadRoutes } from './routes/uploads.ts';
import { createResponsesRoutes } from './routes/responses.ts';
import { createStoredResponses, STORED_RESPONSE_BYTES_MAX } from './responses/stored-responses.ts';
import { serveVideos } from './routes/video.ts';

export { gatewaySettings, type GatewayConfig } from './config.ts';

/** The APIs whose errors have a form of their own. */
const OWN_ERRORS = [
  '/v1/conversations',
  ...CLIENT_APIS.flatMap(({ path, dialect }) => (dialect.writeError === undefined ? [] : [path])),
];
const MS_PER_SECOND = 1_000;

interface GatewayOptions {
  /** Shared by several apps of one process; its creator then starts and stops it. */
  readonly runtime?: ServiceRuntime;
  /** Shared by the apps of one process. */
  readonly bodyMemory?: BodyMemory;
  /** Whether a request may read the metrics; every request may if it is absent. */
  readonly mayReadMetrics?: (request: IncomingMessage) => boolean;
  /** Whether other processes serve the same clients on the same port: then they share the limit of requests. */
  readonly sharesRequestLimit?: boolean;
}

/** The REST surface: `/v1/*`, `/api/admin/*`, the docs and the probes. */
export function createGateway(
  config: GatewayConfig,
  context: AppContext,
  options: GatewayOptions = {},
): ServerApp {
  const runtime = options.runtime ?? createServiceRuntime(config, context);
  const { database, bus, clock, log } = context;
  const { router, quotas } = runtime;
  const cors = createCors(config.corsOrigins);
  const keys = createCachedKeys(context);
  const limiting = { requestsPerMinute: config.requestsPerMinute, clock };
  const limiter =
    options.sharesRequestLimit === true
      ? createSharedRequestLimiter({ ...limiting, admission: bus.admission })
      : createRequestLimiter(limiting);
  const clientIp = createClientIp(config.trustProxy);
  const signIns = createSignIns(context);
  const identities = createIdentities({ keys, limiter, signIns, clientIp, clock });
  const calls = createHttpCalls({ identities, limiter, meter: runtime.meter, clock, log });
  const { bodyBytesMax, uploadBytesMax } = config;
  const bodyMemory =
    options.bodyMemory ?? createMeasuredBodyMemory(config.requestBodiesBytesMax, context.metrics);
  const errorForms = config.upstreamErrors === 'pass' ? 'openai' : config.errors;
  const admission = createHttpAdmission({
    quotas,
    router,
    bodyBytesMax,
    bodyMemory,
    answerCache: createAnswerCache({ ...context, ...runtime, byteCache: bus.byteCache }),
    keepBodies: createKeepBodies({ requestLogWriter: runtime.requestLogWriter, clock }),
    logBodies: config.logBodies,
  });
  const checkConversation = createConversationCheck(database.conversations, runtime.storageLimit);
  const listing = createModelListing({ ...runtime, ...config });
  const silenceMs = config.streamKeepAliveSecs * MS_PER_SECOND;
  const serving = { admission, ...runtime, clock, log, silenceMs };
  const chat = { ...serving, checkConversation };
  const uploadFiles = createUploadFiles({
    folder: join(config.dataDir, 'uploads'),
    bytesMax: config.uploadFilesBytesMax,
  });
  const relayRoutes = [
    ...createRelayRoutes(serving),
    ...createUploadRoutes({ ...serving, uploadFiles, uploadBytesMax }),
  ];
  const relayPaths = new Set(relayRoutes.map(({ path }) => path));
  const storedResponses = createStoredResponses({
    store: database.responses,
    retentionDays: config.responsesRetentionDays,
    perUserMax: config.responsesPerUserMax,
    storedBytesMax: config.storedBytesPerUserMax,
    clock,
    log,
  });
  const { complete, isLinked, keep } = storedResponses;
  const free = { quotas, router, bodyMemory };
  const counting = {
    freeRequests: createFreeRequests({
      ...free,
      limits: { bytes: bodyBytesMax, items: STORED_ITEMS_MAX },
    }),
    bodyBytesMax,
    bodyMemory,
  };
  // Each response that was stored can be read, whatever the limit of bodies is now.
  const readBytesMax = Math.max(bodyBytesMax, STORED_RESPONSE_BYTES_MAX);
  const reading = createFreeRequests({
    ...free,
    limits: { bytes: readBytesMax, items: Infinity },
  });
  const callRoutes: readonly CallRoute[] = [
    ...CLIENT_APIS.filter((api) => api !== responsesApi).map((api) =>
      createDialectRoute(api, chat),
    ),
    // Its answers are stored, and continued by later requests.
    createDialectRoute(
      { path: responsesApi.path, dialect: responsesDialect, complete, isLinked, keep },
      chat,
    ),
    createCountTokensRoute(
      {
        path: inference.countMessageTokens.path,
        dialect: messagesDialect,
        request: countTokensRequest,
        writeAnswer: (tokens) => ({ input_tokens: tokens }),
      },
      counting,
    ),
    createCountTokensRoute(
      {
        path: inference.countResponseTokens.path,
        dialect: responsesDialect,
        request: responsesDialect.request,
        complete,
        writeAnswer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
      },
      counting,
    ),
    createEmbeddingsRoute({ admission, ...runtime }),
    ...relayRoutes,
  ];
  const leanRoutes = createLeanRoutes(
    [
      ...callRoutes.map((route) => calls.leanRoute(route)),
      createModelsRoute({ identities, listing }),
    ],
    (error, request, response, { writeError = modelsErrorWriter(request) }) =>
      sendError(error, request, response, log, writeError),
  );
  const hasOwnErrors = (path: string, request: IncomingMessage): boolean =>
    relayPaths.has(path) ||
    OWN_ERRORS.some((own) => path === own || path.startsWith(`${own}/`)) ||
    modelsErrorWriter(request) !== undefined;
  const routes = Router();
  const serve = createServeOperation(routes);
  routes.use(
    '/api/admin',
    createAdminCheck(config.adminToken),
    createAdminAudit({ audit: database.audit, router, clientIp, log }),
  );
  serveBackends(serve, router, createBackendAdmin(router));
  serveAliases(serve, router);
  serveUsageQuery(serve, database.usageQueries);
  serve(administration.explainRoute, ({ query: given }) => {
    const { key, ...query } = validated(administration.explainRoute.query, given);
    return runtime.explainRoute({ ...query, keyId: key });
  });
  serveAuditExport(serve, database.audit);
  routes.use(createModelRoute({ identities, listing, log }));
  routes.use(createResponsesRoutes({ calls, freeRequests: reading, storedResponses, log }));
  serveVideos(serve, { calls, admission, videoJobs: runtime.videoJobs });
  routes.use(createDocsRoutes(config.publicUrl));
  routes.use(createConsoleRoutes(createConsoleFiles()));
  const handleExpress = createExpressApp({
    routes,
    trustProxy: config.trustProxy,
    log,
  });
  const handleProbe = createProbes({
    buildHash: config.buildHash,
    ...context,
    mayReadMetrics: options.mayReadMetrics,
    details: () => {
      const healthy = router.list().filter(({ isRoutable }) => isRoutable);
      return {
        models: new Set(healthy.flatMap(({ models }) => models)).size,
        providers: healthy.map(({ backend }) => backend.name),
      };
    },
  });

  return {
    name: 'gateway',
    routes: [...OPERATIONS.map(({ path }) => path), ...DOCS_ROUTES, ...CONSOLE_ROUTES],
    origins: config,
    leanPaths: leanRoutes.paths,
    async start() {
      await keys.start();
      await signIns.ends.start();
      if (options.runtime === undefined) await runtime.start();
    },
    async stop() {
      if (options.runtime === undefined) await runtime.stop();
      await signIns.ends.stop();
      await keys.stop();
    },
    handle(request, response) {
      const path = pathOf(request);
      if (path.startsWith('/v1/'))
        setErrorForms(response, hasOwnErrors(path, request) ? 'own' : errorForms);
      if (cors(request, response)) return;
      if (leanRoutes.handle(path, request, response)) return;
      if (handleProbe(path, request, response)) return;
      handleExpress(request, response);
    },
  };
}
