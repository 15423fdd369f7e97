import { ServiceError } from '@model-gateway/contracts';
import type { RequestHandler } from 'express';

/** Refuses every other method of a path and names the allowed ones. */
export function onlyTheseMethods(...methods: readonly string[]): RequestHandler {
  const allowed = methods.join(', ');
  return ({ baseUrl, path }, response) => {
    response.setHeader('allow', allowed);
    throw new ServiceError(
      'method_not_allowed',
      `use ${allowed} ${baseUrl}${path === '/' ? '' : path}`,
    );
  };
}
