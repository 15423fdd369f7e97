import { hash } from 'node:crypto';
import { canonicalJson } from '@model-gateway/kernel';
import type { RouteRule } from '@model-gateway/router';

/** A model, and what its name stands for. */
type FallbackFacts = Pick<AnswerFacts, 'model' | 'resolvedModel' | 'targets'>;

/** Everything that the answer to a request depends on. */
export interface AnswerFacts {
  /** Who may get the answer again. */
  readonly tenant: string;
  readonly path: string;
  /** As the request names it, and what its alias stands for. */
  readonly model: string;
  readonly resolvedModel: string;
  /** Where the route of the model leads to; undefined without a route. */
  readonly targets: RouteRule['targets'] | undefined;
  /** The same of the models that may be tried instead. */
  readonly fallbacks: readonly FallbackFacts[];
  /** Values of headers that the answer depends on. */
  readonly headers: readonly (string | undefined)[];
}

/** Changes with the form of stored answers, so that no version reads those of another. */
const VERSION = 2;

/** Two requests have the same key only if their bodies and all facts are equal; undefined for a body that has none. */
export function cacheKey(facts: AnswerFacts, body: unknown): string | undefined {
  const { tenant, path, model, resolvedModel, targets = null, fallbacks, headers } = facts;
  const others = JSON.stringify([
    tenant,
    path,
    model,
    resolvedModel,
    targets,
    fallbacks.map((fallback) => [fallback.model, fallback.resolvedModel, fallback.targets ?? null]),
    headers.map((value) => value ?? null),
  ]);
  const text = canonicalJson(body);
  if (text === undefined) return undefined;
  return `answer${VERSION}:${hash('sha256', `${others}\n${text}`, 'base64url')}`;
}
