import { gunzipSync } from 'node:zlib';
import { configJsonSchema } from '@model-gateway/config-file';
import {
  ERROR_DOCS_PATH,
  pageHeaders,
  readViewerFile,
  SERVICE_VERSION,
  VIEWER_FILES,
  type ViewerFile,
} from '@model-gateway/http';
import { Router } from 'express';
import { errorsPage } from './errors-page.ts';
import { openApiDocument } from './openapi.ts';
import { rpcOpenApiDocument } from './rpc-openapi.ts';
import { DOCS_PATHS, viewerPage } from './viewer-page.ts';

const CONFIG_SCHEMA_PATH = '/config.schema.json';

/** The routes of the documentation. */
export const DOCS_ROUTES: readonly string[] = [
  DOCS_PATHS.rest,
  DOCS_PATHS.restDescription,
  DOCS_PATHS.rpc,
  DOCS_PATHS.rpcDescription,
  ...Object.keys(VIEWER_FILES).map((name) => `${DOCS_PATHS.viewer}/${name}`),
  ERROR_DOCS_PATH,
  CONFIG_SCHEMA_PATH,
];

/** The descriptions of both APIs and of the configuration file, the pages on which they can be tried, and the page of error codes. */
export function createDocsRoutes(publicUrl: string | undefined): Router {
  const routes = Router();
  serveJson(routes, DOCS_PATHS.restDescription, () => openApiDocument(publicUrl));
  serveJson(routes, DOCS_PATHS.rpcDescription, () => rpcOpenApiDocument(SERVICE_VERSION));
  serveJson(routes, CONFIG_SCHEMA_PATH, configJsonSchema);
  servePage(routes, DOCS_PATHS.rest, { hasFiles: true }, () =>
    viewerPage({
      title: 'Model Gateway REST API',
      path: DOCS_PATHS.rest,
      description: DOCS_PATHS.restDescription,
      expansion: 'list',
    }),
  );
  servePage(routes, DOCS_PATHS.rpc, { hasFiles: true }, () =>
    viewerPage({
      title: 'Model Gateway JSON-RPC API',
      path: DOCS_PATHS.rpc,
      description: DOCS_PATHS.rpcDescription,
      expansion: 'none',
    }),
  );
  servePage(routes, ERROR_DOCS_PATH, {}, errorsPage);
  for (const [name, type] of Object.entries(VIEWER_FILES)) {
    serveViewerFile(routes, name as ViewerFile, type);
  }
  return routes;
}

// Everything is built on the first request: most processes never serve it.

function serveJson(routes: Router, path: string, create: () => object): void {
  let document: object | undefined;
  routes.get(path, (_request, response) => void response.json((document ??= create())));
}

function servePage(
  routes: Router,
  path: string,
  options: { readonly hasFiles?: boolean },
  create: () => string,
): void {
  let page: { readonly html: string; readonly headers: Readonly<Record<string, string>> };
  routes.get(path, (_request, response) => {
    if (page === undefined) {
      const html = create();
      page = { html, headers: pageHeaders(html, options) };
    }
    response.set(page.headers).type('html').send(page.html);
  });
}

/** The files change only with the version; the tag lets a browser keep them. */
function serveViewerFile(routes: Router, name: ViewerFile, type: string): void {
  routes.get(`${DOCS_PATHS.viewer}/${name}`, async (request, response) => {
    const compressed = await readViewerFile(name);
    response.set({
      'cache-control': 'no-cache',
      'content-type': `${type}; charset=utf-8`,
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
    });
    if (request.acceptsEncodings('gzip') === false) response.send(gunzipSync(compressed));
    else response.set('content-encoding', 'gzip').send(compressed);
  });
}
