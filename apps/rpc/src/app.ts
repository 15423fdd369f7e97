import { createAccessTokens, createAccounts, createKeys } from '@model-gateway/accounts';
import type { AppContext } from '@model-gateway/host';
import {
  answerNotFound,
  answerRestError,
  createCors,
  createProbes,
  pathOf,
  SERVICE_VERSION,
  type ServerApp,
} from '@model-gateway/http';
import type { RpcConfig } from './config.ts';
import { createMethods } from './methods/index.ts';
import { createAuthorise } from './protocol/authorise.ts';
import { createDispatcher } from './protocol/dispatcher.ts';
import { createHttpTransport } from './transports/http.ts';

export type { RpcConfig } from './config.ts';
export { accountSettings } from './config.ts';

/** The JSON-RPC management plane. */
export function createRpc(config: RpcConfig, context: AppContext): ServerApp {
  const { database, bus, clock, log, metrics, stopping } = context;
  const accounts = createAccounts({
    users: database.users,
    refreshTokens: database.refreshTokens,
    accessTokens: createAccessTokens({
      secret: context.jwtSecret,
      expiresInSecs: config.accessTokenTtlSecs,
      clock,
    }),
    clock,
    registrationOpen: config.registrationOpen,
    refreshTokenTtlSecs: config.refreshTokenTtlSecs,
  });
  const methods = createMethods({
    accounts,
    keys: createKeys(database.keys),
    usage: database.usage,
  });
  const dispatcher = createDispatcher({
    methods,
    authorise: createAuthorise({ accounts, adminToken: config.adminToken }),
    log,
  });
  const answerHttp = createHttpTransport({ dispatcher });
  const cors = createCors(config.corsOrigins);
  const answerProbe = createProbes({
    version: SERVICE_VERSION,
    buildHash: config.buildHash,
    metrics,
    stopping,
    checks: { postgres: () => database.ping(), redis: () => bus.ping() },
  });

  return {
    name: 'rpc',
    start: async () => undefined,
    stop: async () => undefined,
    handle(request, response) {
      const path = pathOf(request);
      if (cors(request, response)) return;
      if (answerProbe(request.method, path, response)) return;
      if (path === '/api/rpc') {
        answerHttp(request, response).catch((error: unknown) =>
          answerRestError(error, request, response, log),
        );
      } else {
        answerNotFound(request, response, log);
      }
    },
  };
}
