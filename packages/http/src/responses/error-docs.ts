import type { ServerResponse } from 'node:http';

/** The path of the page that explains every error code. */
export const ERROR_DOCS_PATH = '/docs/errors';

const PAGE = Symbol('the address of the page of error codes');

interface Documented {
  [PAGE]?: string;
}

/** The address of the page that explains every error code. */
export function errorDocsPage(publicUrl: string): string {
  return `${publicUrl.replace(/\/+$/, '')}${ERROR_DOCS_PATH}`;
}

/** From now on an error of this response names the page that explains it. */
export function documentErrors(response: ServerResponse & Documented, page: string): void {
  response[PAGE] = page;
}

/** The address of a row of that page, if the public address is known. */
export function errorDocs(response: ServerResponse & Documented, row: string): string | undefined {
  const page = response[PAGE];
  return page === undefined ? undefined : `${page}#${row}`;
}
