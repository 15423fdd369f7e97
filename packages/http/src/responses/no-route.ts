import { ServiceError } from '@model-gateway/contracts';

/** What clients append to their base URL. */
const API_PATH =
  /^\/(?:v1\/)*((?:chat\/completions|completions|embeddings|models|messages|responses|images|audio|moderations|rerank|realtime)(?:\/.*)?)$/;
/** The whole address of a call as the base URL: what the client appended comes after it. */
const APPENDED = /^\/v1\/(?:chat\/completions|completions|embeddings|responses|messages)\/(?=.)/;
/** A base URL under `/api`, as other services have it. */
const API_PREFIX = /^\/api(?=\/v1\/)/;

/** The error for a path that the app does not have. A base URL with too little or too much of the path is the usual mistake. */
export function noRoute(method: string | undefined, path: string): ServiceError {
  return new ServiceError('not_found', `no route ${method} ${path}${advice(path)}`);
}

function advice(path: string): string {
  const cleaned = cleanedPath(path);
  const meant = API_PATH.exec(cleaned)?.[1];
  if (meant === undefined || path === `/v1/${meant}`) return '';
  const question = `. Did you mean /v1/${meant}?`;
  if (cleaned !== path && path.endsWith('/v1/messages'))
    return `${question} The base URL is the address alone`;
  if (cleaned === path && path.startsWith('/v1/'))
    return `${question} The path has /v1 twice: remove it from the base URL of the client`;
  return `${question} The base URL ends with /v1`;
}

/** Without what a base URL has too much, if the rest is a path of the API. */
function cleanedPath(path: string): string {
  const rest = path.replace(API_PREFIX, '').replace(APPENDED, '/');
  return API_PATH.test(rest) ? rest : path;
}
