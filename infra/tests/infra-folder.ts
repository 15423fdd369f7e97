import { fileURLToPath } from 'node:url';

/** The folder with everything that a deployment needs. */
export const infraFolder: string = fileURLToPath(new URL('..', import.meta.url));
