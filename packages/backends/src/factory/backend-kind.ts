import { ServiceError } from '@model-gateway/contracts';
import type { BackendKindDefinition } from '../kind-definition.ts';
import { KINDS } from '../kinds.ts';

const REMOVED_TYPES: readonly string[] = ['comfyui'];

const typesOf = ({ name, aliases = [] }: BackendKindDefinition): readonly string[] => [
  name,
  ...aliases,
];

/** The kind of a registered backend, including those that the service registers. */
export const registeredKind = (type: string): BackendKindDefinition =>
  KINDS.find(({ name, isInternal }) => isInternal === true && name === type) ?? resolveKind(type);

/** The kind of backend for an operator's type. */
export function resolveKind(type: string): BackendKindDefinition {
  if (REMOVED_TYPES.includes(type)) {
    throw new ServiceError('unknown_type', `backend type '${type}' was removed`);
  }
  const offered = KINDS.filter(({ isInternal }) => isInternal !== true);
  const kind = offered.find((known) => typesOf(known).includes(type));
  if (kind !== undefined) return kind;
  const known = offered.flatMap(typesOf).join(', ');
  throw new ServiceError('unknown_type', `unknown backend type '${type}'; use one of ${known}`);
}
