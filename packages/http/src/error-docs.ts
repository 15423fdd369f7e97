import type { ServerResponse } from 'node:http';

/** The path of the page that explains every error code. */
export const ERROR_DOCS_PATH = '/docs/errors';

const BASE = Symbol('the base URL of the page of error codes');

interface Documented {
  [BASE]?: string;
}

/** From now on an error of this response names the page that explains it. */
export function documentErrors(response: ServerResponse & Documented, publicUrl: string): void {
  response[BASE] = publicUrl.replace(/\/+$/, '');
}

/** The address of the explanation of a code, if the public address is known. */
export function errorDocs(response: ServerResponse & Documented, code: string): string | undefined {
  const base = response[BASE];
  return base === undefined ? undefined : `${base}${ERROR_DOCS_PATH}#${code}`;
}
