import type { Request, Response, Router } from 'express';
import type { z } from 'zod';
import { onlyTheseMethods } from '../only-these-methods.ts';
import type { NamedSchema, Operation } from './operation.ts';

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : unknown;

/** Sends what the handler returns; a handler that sends its answer itself returns undefined. */
export type ServeOperation = <const Path extends string, Body>(
  operation: Operation & {
    readonly path: Path;
    readonly response: NamedSchema<z.ZodType<unknown, Body>>;
  },
  handle: (
    request: Request & { readonly params: ParamsOf<Path> },
    response: Response,
  ) => Body | undefined | Promise<Body | undefined>,
) => void;

/** Serves operations with Express, and refuses other methods of their paths. */
export function createServeOperation(routes: Router): ServeOperation {
  const methodsOf = new Map<string, string[]>();

  /** The methods of a path; the first operation of the path adds the refusal of all others. */
  function methodsAt(path: string): string[] {
    const known = methodsOf.get(path);
    if (known !== undefined) return known;
    const methods: string[] = [];
    methodsOf.set(path, methods);
    routes.route(path).all((request, response, next) => {
      const method = request.method === 'HEAD' ? 'GET' : request.method;
      if (methods.includes(method)) next();
      else onlyTheseMethods(...methods)(request, response, next);
    });
    return methods;
  }

  return ({ method, path }, handle) => {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    methodsAt(pattern).push(method.toUpperCase());
    routes.route(pattern)[method](async (request, response) => {
      const body = await handle(request as Parameters<typeof handle>[0], response);
      if (body !== undefined) response.json(body);
    });
  };
}
