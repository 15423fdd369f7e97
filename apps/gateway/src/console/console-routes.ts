import { sendRedirect, SERVICE_VERSION } from '@model-gateway/http';
import { ServiceError } from '@model-gateway/contracts';
import { Router, type Request, type Response } from 'express';
import { OLD_BUILD_SCRIPT } from './old-build-script.ts';
import type { ConsoleFiles } from './console-files.ts';

/** The paths of the console. */
export const CONSOLE_ROUTES: readonly string[] = ['/', '/console', '/console/{path}'];

const INDEX = 'index.html';
/** Its files have names that change with their content. */
const ASSETS = 'assets/';

/** The page runs only scripts and styles of this service. A video may be anywhere on the web. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob: https:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(self)',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

const LINKS = {
  console: '/console/',
  docs: '/docs',
  openapi: '/openapi.json',
  models: '/v1/models',
  rpc: '/api/rpc',
  health: '/healthz',
};

/** The web console below `/console`, and the way there from `/`. */
export function createConsoleRoutes(files: ConsoleFiles): Router {
  const routes = Router();
  routes.get('/', (request, response) => {
    response.set({ vary: 'accept', 'cache-control': 'no-store' });
    if (request.accepts(['json', 'html']) === 'html') sendRedirect(response, LINKS.console);
    else response.json({ name: 'Model Gateway', version: SERVICE_VERSION, links: LINKS });
  });
  const serve = async (request: Request, response: Response): Promise<void> => {
    const name = request.path.slice('/console/'.length);
    if (name.startsWith(ASSETS)) return sendAsset(request, response, name);
    const file = name === 'build.json' ? name : INDEX;
    return sendFresh(request, response, file);
  };
  routes.get('/console', serve);
  routes.get('/console/*path', serve);

  async function sendAsset(request: Request, response: Response, name: string): Promise<void> {
    if (await sendFile(request, response, name, 'public, max-age=31536000, immutable')) return;
    if (!name.endsWith('.js')) throw new ServiceError('not_found', `no file ${request.path}`);
    response
      .set({ ...PAGE_HEADERS, 'cache-control': 'no-store' })
      .type('js')
      .send(OLD_BUILD_SCRIPT);
  }

  async function sendFresh(request: Request, response: Response, name: string): Promise<void> {
    if (await sendFile(request, response, name, 'no-store')) return;
    throw new ServiceError('not_found', 'this build has no console');
  }

  async function sendFile(
    request: Request,
    response: Response,
    name: string,
    cacheControl: string,
  ): Promise<boolean> {
    const file = await files.read(name, request.acceptsEncodings());
    if (file === undefined) return false;
    response.set({
      ...PAGE_HEADERS,
      'cache-control': cacheControl,
      'content-type': file.type,
      vary: 'accept-encoding',
    });
    if (file.encoding !== undefined) response.set('content-encoding', file.encoding);
    response.send(file.body);
    return true;
  }

  return routes;
}
