export { autoFetch } from './auto-fetch.ts';
export { parseBrowserBackend } from './browser-backend.ts';
export { writeBakedBrowser } from './baked-browser.ts';
export { fetchBrowser, resolveBrowser, type ResolvedBrowser } from './resolve-browser.ts';
export { resolveConfigFrom, type ResolveConfig } from './resolve-config.ts';
export { resolveSettings } from './resolve-settings.ts';
