import { named, type Operation } from '../operations/operation.ts';
import type { OwnErrors } from '@model-gateway/dialects';
import { restErrorSchema } from '@model-gateway/contracts';
import type { ComponentSchemas } from './component-schemas.ts';

/** The errors of most operations. */
const ERRORS: OwnErrors = { ...named('Error', restErrorSchema), failures: [500, 502, 503] };

/** The bodies of all refusals. */
export const errorsOf = (operations: readonly Operation[]): readonly OwnErrors[] => [
  ...new Set([ERRORS, ...operations.flatMap(({ errors }) => errors ?? [])]),
];

const DESCRIPTIONS = {
  400: 'The request is not valid.',
  401: 'The credential is missing, invalid or expired.',
  402: 'A budget or the credit is exhausted.',
  403: 'The credential does not permit this.',
  404: 'There is no such model or resource.',
  409: 'The request conflicts with what exists.',
  413: 'The body is too large.',
  415: 'The encoding of the body is not supported.',
  429: 'A limit is reached; `retry-after` says when to try again, where that is known.',
  500: 'The service failed, or no backend can answer.',
  502: 'The upstream failed.',
  503: 'The service or an upstream cannot answer now.',
  529: 'The service or an upstream cannot answer now.',
} as const;
type RefusalStatus = keyof typeof DESCRIPTIONS;

/** Refused with a text, unless the client accepts only JSON. */
const TEXT_REFUSALS: readonly RefusalStatus[] = [401, 429];

/** Every way in which an operation refuses or fails, as responses of the description. */
export function refusalsOf(
  operation: Operation,
  schemas: Pick<ComponentSchemas, 'of'>,
): Readonly<Record<string, object>> {
  const error = schemas.of(operation.errors ?? ERRORS, 'output');
  const json = { 'application/json': { schema: error } };
  const text = { 'text/plain': { schema: { type: 'string' } } };
  const isKeyed = operation.security.includes('apiKey');
  const responses = statusesOf(operation).map((status) => {
    const hasText = isKeyed && TEXT_REFUSALS.includes(status);
    const content = hasText ? { ...text, ...json } : json;
    return [status, { description: DESCRIPTIONS[status], content }] as const;
  });
  return {
    ...Object.fromEntries(responses),
    default: { description: 'Refused or failed.', content: json },
  };
}

function statusesOf(operation: Operation): readonly RefusalStatus[] {
  const { method, path, security, query, request, errors = ERRORS } = operation;
  const isKeyed = security.includes('apiKey');
  const isNamed = path.includes('{');
  const hasBody = request !== undefined;
  const isModelCall = isKeyed && hasBody;
  const isChange = method !== 'get' && security.includes('adminToken');
  const groups: readonly (readonly [boolean, readonly RefusalStatus[]])[] = [
    [hasBody || query !== undefined || isNamed, [400]],
    [security.length > 0, [401]],
    [isKeyed, [403, 429]],
    [isModelCall, [402, ...errors.failures]],
    [isModelCall || isNamed, [404]],
    [isChange || isModelCall, [409]],
    [hasBody, [413, 415]],
  ];
  return groups.flatMap(([applies, statuses]) => (applies ? statuses : []));
}
