import { fileURLToPath } from 'node:url';

/** The room of what a deployment needs. */
export const infraFolder: string = fileURLToPath(new URL('..', import.meta.url));
