import { ERROR_DOCS_PATH, pageHeaders } from '@model-gateway/http';
import { Router } from 'express';
import { DOCS_PAGE } from './docs-page.ts';
import { errorsPage } from './errors-page.ts';
import { openApiDocument } from './openapi.ts';

/** `/openapi.json`, the page that renders it, and the page of error codes. */
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
  let errors: string | undefined;
  routes.get(ERROR_DOCS_PATH, (_request, response) => {
    errors ??= errorsPage();
    response.set(pageHeaders(errors)).type('html').send(errors);
  });
  return routes;
}
