import { fileURLToPath } from 'node:url';

/** The root of the repository, the same from the sources and from a build of them. */
export const projectFolder: string = fileURLToPath(new URL('../../..', import.meta.url));
