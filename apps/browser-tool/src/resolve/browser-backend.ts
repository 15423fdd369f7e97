import { ToolError } from '../errors.ts';
import { CDP_BACKENDS, type CdpBackend } from './system-browsers.ts';

/** The engines with the C interface. */
export const FFI_BACKENDS = ['firefox', 'servo'] as const;
export type FfiBackend = (typeof FFI_BACKENDS)[number];

/** The values of `BROWSER_BACKEND`. */
export const BACKENDS = ['auto', ...CDP_BACKENDS, ...FFI_BACKENDS] as const;
export type BrowserBackend = (typeof BACKENDS)[number];

/** Parses `BROWSER_BACKEND`; the error for any other value lists all six. */
export function parseBrowserBackend(text: string): BrowserBackend {
  const backend = BACKENDS.find((name) => name === text.toLowerCase());
  if (backend !== undefined) return backend;
  throw new ToolError(
    'INVALID_BACKEND',
    `BROWSER_BACKEND is ${JSON.stringify(text.slice(0, 80))}, which is not a backend.`,
    {
      hint: `Use one of ${BACKENDS.join(', ')}.`,
      details: { received: text.slice(0, 80), allowed: BACKENDS },
    },
  );
}

/** Whether a backend is an engine with the C interface. */
export function isFfiBackend(backend: BrowserBackend): backend is FfiBackend {
  return FFI_BACKENDS.some((name) => name === backend);
}

/** The browsers of a backend, in the order in which they are tried. */
export function cdpBackendsOf(backend: Exclude<BrowserBackend, FfiBackend>): readonly CdpBackend[] {
  return backend === 'auto' ? CDP_BACKENDS : [backend];
}
