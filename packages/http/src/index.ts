export { acceptsOnlyJson, expectJsonOnly } from './accepts-only-json.ts';
export { apiKeyOf, bearerOf } from './bearer.ts';
export { beginResponse } from './begin-response.ts';
export { createClientIp, type ClientIp } from './client-ip.ts';
export { isDirectLoopback } from './direct-loopback.ts';
export { disconnectSignal } from './disconnect-signal.ts';
export { createCors } from './cors.ts';
export { errorAnchor } from './error-anchor.ts';
export { ERROR_DOCS_PATH, errorDocsPage } from './error-docs.ts';
export { PROBE_PATHS } from './probes.ts';
export { checkAddress, listen } from './http-server.ts';
export { createLeanRoutes, type LeanRoute } from './lean-routes.ts';
export { createMetricsGate } from './metrics-gate.ts';
export { createSameOriginCheck, isLoopback, type OriginCheck } from './origins.ts';
export { createSecureCheck } from './secure-request.ts';
export { pageHeaders } from './page-headers.ts';
export { createProbes } from './probes.ts';
export { parseJson, readBody } from './read-json.ts';
export { identify, requestIdOf } from './request-id.ts';
export {
  REST_ERRORS,
  refuseUpgrade,
  sendJsonParts,
  sendJsonText,
  sendNotFound,
  sendRestError,
  sendText,
} from './rest-errors.ts';
export { pathOf, type ServerApp } from './server-app.ts';
export {
  absoluteDataDir,
  absoluteFile,
  publicUrlOf,
  serverSettings,
  surfaceSettings,
} from './settings.ts';
export { validated } from './validated.ts';
export type { FormField } from './uploads/form-parts.ts';
export { readUpload, type Upload } from './uploads/read-upload.ts';
export { createUploadFiles, type UploadFiles } from './uploads/upload-files.ts';
export { SERVICE_VERSION } from './version.ts';
export { readViewerFile, VIEWER_FILES, type ViewerFile } from './viewer-files.ts';
