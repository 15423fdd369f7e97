export { bearerOf } from './bearer.ts';
export { beginAnswer } from './begin-answer.ts';
export { createClientIp, type ClientIp } from './client-ip.ts';
export { clientGone } from './client-gone.ts';
export { createCors, type Cors } from './cors.ts';
export { checkAddress, listen, type HttpServer } from './http-server.ts';
export { createLeanRoutes, type LeanRoute } from './lean-routes.ts';
export { createProbes, type Probes, type StoreCheck } from './probes.ts';
export { parseJson, readBody, readJson } from './read-json.ts';
export { requestIdOf } from './request-id.ts';
export {
  answerJson,
  answerJsonText,
  answerNotFound,
  answerRestError,
  answerText,
} from './rest-errors.ts';
export { pathOf, type ServerApp } from './server-app.ts';
export { absoluteDataDir, publicUrlOf, serverSettings, surfaceSettings } from './settings.ts';
export { validated } from './validated.ts';
export { SERVICE_VERSION } from './version.ts';
