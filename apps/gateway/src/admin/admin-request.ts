import { ServiceError } from '@model-gateway/contracts';
import { parseJson, readBody } from '@model-gateway/http';
import type { Request } from 'express';

const BODY_BYTES_MAX = 1024 * 1024;

/** The JSON object that an admin request brings; without a body, one without fields. */
export async function readAdminBody(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const text = await readBody(request, BODY_BYTES_MAX);
  const body = text.trim() === '' ? {} : parseJson(text);
  if (isObject(body)) return body;
  throw new ServiceError('missing_fields', 'the request body: an object is expected');
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
