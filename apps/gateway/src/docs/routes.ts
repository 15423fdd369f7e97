import { pageHeaders } from '@model-gateway/http';
import { Router } from 'express';
import { DOCS_PAGE } from './docs-page.ts';
import { openApiDocument } from './openapi.ts';

/** `/openapi.json` and the page that renders it. */
export function createDocsRoutes(publicUrl: string | undefined): Router {
  const routes = Router();
  // Built on the first request: most processes never serve it.
  let document: Record<string, unknown> | undefined;
  routes.get('/openapi.json', (_request, response) => {
    response.json((document ??= openApiDocument(publicUrl)));
  });
  routes.get(
    '/docs',
    (_request, response) => void response.set(pageHeaders(DOCS_PAGE)).type('html').send(DOCS_PAGE),
  );
  return routes;
}
