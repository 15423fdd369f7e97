import { ServiceError } from '@model-gateway/contracts';

/** What clients append to their base URL. */
const API_PATH =
  /^\/(?:v1\/)*((?:chat\/completions|completions|embeddings|models|messages|responses|images|audio|moderations|rerank|realtime)(?:\/.*)?)$/;

/** The error for a path that the app does not have. A base URL with a missing or second `/v1` is the usual mistake. */
export function noRoute(method: string | undefined, path: string): ServiceError {
  const meant = API_PATH.exec(path)?.[1];
  const isWrongBase = meant !== undefined && path !== `/v1/${meant}`;
  const advice = !isWrongBase
    ? ''
    : path.startsWith('/v1/')
      ? `. Did you mean /v1/${meant}? The path has /v1 twice: remove it from the base URL of the client`
      : `. Did you mean /v1/${meant}? The base URL ends with /v1`;
  return new ServiceError('not_found', `no route ${method} ${path}${advice}`);
}
