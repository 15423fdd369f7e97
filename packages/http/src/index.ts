export { acceptsOnlyJson } from './requests/accepts-only-json.ts';
export { apiKeyOf, bearerOf } from './requests/bearer.ts';
export {
  COUNTED_BODY_BYTES_MIN,
  createMeasuredBodyMemory,
  type BodyMemory,
} from './requests/body-memory.ts';
export { breakOff, endsWithEvent } from './responses/break-off.ts';
export { beginResponse } from './responses/begin-response.ts';
export { createClientIp, type ClientIp } from './requests/client-ip.ts';
export { isDirectLoopback } from './requests/direct-loopback.ts';
export { disconnectSignal } from './requests/disconnect-signal.ts';
export { createCors } from './responses/cors.ts';
export { ERROR_FORMS, errorFormOf, setErrorForms } from './responses/error-form.ts';
export { errorAnchor } from './responses/error-anchor.ts';
export { ERROR_DOCS_PATH, errorDocsPage } from './responses/error-docs.ts';
export { PROBE_PATHS } from './server/probes.ts';
export { checkAddress, listen } from './server/http-server.ts';
export { createLeanRoutes, type LeanRoute } from './server/lean-routes.ts';
export { createMetricsCheck } from './server/metrics-check.ts';
export { createSameOriginCheck, isLoopback, type OriginCheck } from './requests/origins.ts';
export { createSecureCheck } from './requests/secure-request.ts';
export { pageHeaders } from './responses/page-headers.ts';
export { sendRedirect } from './responses/send-redirect.ts';
export { createProbes } from './server/probes.ts';
export { parseExactJson, parseJson, readBody } from './requests/read-json.ts';
export { identify, requestIdOf } from './requests/request-id.ts';
export { failureOf, REST_ERRORS, type RestError } from './responses/rest-error-table.ts';
export {
  jsonHeaders,
  refuseUpgrade,
  sendJsonText,
  sendNotFound,
  sendRestError,
  sendText,
  type ErrorWriter,
} from './responses/rest-errors.ts';
export { pathOf, type ServerApp } from './server/server-app.ts';
export {
  absoluteDataDir,
  absoluteFile,
  publicUrlOf,
  serverSettings,
  surfaceSettings,
} from './settings.ts';
export {
  createStoredReader,
  STORED_ITEMS_MAX,
  storedReaderFor,
  type StoredReader,
  type StoredSize,
} from './requests/stored-reader.ts';
export { validated } from './requests/validated.ts';
export type { FormField } from './uploads/form-parts.ts';
export { readUpload, type Upload } from './uploads/read-upload.ts';
export { createUploadFiles, type UploadFiles } from './uploads/upload-files.ts';
export { SERVICE_VERSION } from './version.ts';
export { readViewerFile, VIEWER_FILES, type ViewerFile } from './responses/viewer-files.ts';
