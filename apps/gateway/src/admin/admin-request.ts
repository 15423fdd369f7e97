import { ServiceError } from '@model-gateway/contracts';
import { parseJson, readBody } from '@model-gateway/http';
import type { Request } from 'express';

const BODY_BYTES_MAX = 1024 * 1024;
const NO_BODY: Readonly<Record<string, unknown>> = {};
const bodies = new WeakMap<Request, Readonly<Record<string, unknown>>>();

/** The body of a request that a handler has read. */
export const adminBodyOf = (request: Request): Readonly<Record<string, unknown>> =>
  bodies.get(request) ?? NO_BODY;

/** The JSON object in the body of an admin request; without a body it is empty. */
export async function readAdminBody(request: Request): Promise<Readonly<Record<string, unknown>>> {
  return objectIn(request, await readBody(request, BODY_BYTES_MAX));
}

/** The same where a request without a body would change much by mistake. */
export async function requireAdminBody(
  request: Request,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await readBody(request, BODY_BYTES_MAX);
  if (text.trim() === '')
    throw new ServiceError('invalid_body', 'the request has no body; send a JSON object');
  return objectIn(request, text);
}

function objectIn(request: Request, text: string): Readonly<Record<string, unknown>> {
  const body = text.trim() === '' ? {} : parseJson(text);
  if (isObject(body)) {
    bodies.set(request, body);
    return body;
  }
  throw new ServiceError('missing_fields', 'the request body must be a JSON object');
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
