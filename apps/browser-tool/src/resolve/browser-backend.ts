import { ToolError } from '../errors.ts';

/** The browsers with the DevTools protocol, in the order in which `auto` tries them. */
export const CDP_BACKENDS = ['chrome', 'chromium', 'edge'] as const;
export type CdpBackend = (typeof CDP_BACKENDS)[number];

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
