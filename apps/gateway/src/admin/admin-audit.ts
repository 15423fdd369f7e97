import type { NewAuditEntry } from '@model-gateway/accounts';
import { aliasRemovalSchema } from '@model-gateway/contracts';
import { requestIdOf, type ClientIp } from '@model-gateway/http';
import { backendState } from '@model-gateway/backends';
import { describeError, type Log } from '@model-gateway/kernel';
import type { BackendConfig, Router as ModelRouter } from '@model-gateway/router';
import type { RequestHandler, Response } from 'express';
import { z } from 'zod';
import { adminBodyOf } from './admin-request.ts';

interface AdminAuditDependencies {
  readonly audit: { append(entry: NewAuditEntry): Promise<void> };
  readonly router: Pick<ModelRouter, 'list' | 'registry' | 'aliases'>;
  readonly clientIp: ClientIp;
  readonly log: Log;
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const FIRST_ERROR_STATUS = 400;

/** Operations without an entry, and why. */
export const AUDIT_EXEMPT: Readonly<Record<string, string>> = {
  'POST /api/admin/backends/by-name/{name}/test': 'it sends a test request and changes nothing',
  'POST /api/admin/usage/query': 'it reads',
};

/**
 * Writes an audit entry for every successful request below `/api/admin` that is no read, before the answer is sent; so a new
 * route has one without doing anything. Backends and aliases can be changed while the database is unavailable: the entry is
 * then in the log only.
 */
export function createAdminAudit(dependencies: AdminAuditDependencies): RequestHandler {
  const { audit, router, clientIp, log } = dependencies;

  async function append(entry: NewAuditEntry): Promise<void> {
    try {
      await audit.append(entry);
    } catch (error) {
      log.error({ ...entry, reason: describeError(error) }, 'writing an audit entry failed');
    }
  }

  return (request, response, next) => {
    const action = `${request.method} ${request.baseUrl}${patternOf(request.path)}`;
    if (READS.has(request.method) || action in AUDIT_EXEMPT) {
      next();
      return;
    }
    // Routers below this one see a shorter path.
    const { path } = request;
    const names = router.list().map(({ backend }) => backend.name);
    const before = readState(router);
    const send = response.json.bind(response);
    response.json = (body: unknown): Response => {
      if (response.statusCode >= FIRST_ERROR_STATUS) return send(body);
      const target = targetOf(path, { request: adminBodyOf(request), answer: body }, names);
      const entry: NewAuditEntry = {
        actor: { kind: 'admin-token', userId: null },
        action,
        target: target ?? null,
        before: target === undefined ? null : before(target),
        after: target === undefined ? adminBodyOf(request) : readState(router)(target),
        clientIp: clientIp(request),
        requestId: requestIdOf(request, response),
      };
      void append(entry).then(() => send(body));
      return response;
    };
    next();
  };
}

const NAMED = /^\/backends\/by-name\/([^/]+)/;

/** The path as its operation declares it. */
const patternOf = (path: string): string =>
  path.replace(NAMED, '/backends/by-name/{name}').replace(/(.)\/$/, '$1');

/** A request that succeeded, as it was given and answered. */
interface Answered {
  readonly request: Readonly<Record<string, unknown>>;
  readonly answer: unknown;
}

const namedSchema = z.object({ name: z.string() });

/** The backend or alias that a request is about. The answer has the name that a backend got. */
function targetOf(
  path: string,
  { request, answer }: Answered,
  names: readonly string[],
): string | undefined {
  if (path.startsWith('/aliases')) return `alias:${aliasRemovalSchema.parse(request).alias}`;
  if (!path.startsWith('/backends')) return undefined;
  const answered = namedSchema.safeParse(answer);
  if (answered.success) return `backend:${answered.data.name}`;
  const [, named] = NAMED.exec(path) ?? [];
  if (named !== undefined) return `backend:${decodeURIComponent(named)}`;
  const { index } = request;
  const listed = typeof index === 'number' ? names[index] : undefined;
  return listed === undefined ? undefined : `backend:${listed}`;
}

/** Reads what is registered now; the returned function shows one of it. */
function readState({ list, registry, aliases }: AdminAuditDependencies['router']) {
  const backends = new Map(
    list().map(({ backend: { name } }): [string, BackendConfig | undefined] => [
      `backend:${name}`,
      registry.find(name),
    ]),
  );
  const targets = new Map(aliases.list().map(({ alias, target }) => [`alias:${alias}`, target]));
  return (name: string): unknown => {
    const config = backends.get(name);
    if (config !== undefined) return backendState(config);
    const target = targets.get(name);
    return target === undefined ? undefined : { target };
  };
}
