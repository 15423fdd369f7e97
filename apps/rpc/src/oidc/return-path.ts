import { ServiceError } from '@model-gateway/contracts';

const DEFAULT_PATH = '/console/';
const PATH_CHARS_MAX = 2000;
const OWN = 'http://this-service.invalid';

/** The page of this service to which a sign-in returns. Rejects everything that a browser could read as another host. */
export function returnPathOf(value: string | null): string {
  if (value === null || value === '') return DEFAULT_PATH;
  const isPath = value.length <= PATH_CHARS_MAX && /^\/(?![/\\])[!-~]*$/.test(value);
  if (isPath && URL.canParse(value, OWN)) {
    const { origin, pathname, search, hash } = new URL(value, OWN);
    // The path itself can resolve to one with two slashes, such as `/./%2e//host`.
    if (origin === OWN && !pathname.startsWith('//')) return `${pathname}${search}${hash}`;
  }
  throw new ServiceError(
    'invalid_request',
    `return_to must be a path of this service such as ${DEFAULT_PATH}`,
  );
}
