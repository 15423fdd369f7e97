export { autoFetch } from './baked-browser.ts';
export { parseBrowserBackend } from './browser-backend.ts';
export { fetchBrowser } from './fetch-browser.ts';
export { resolveBrowser, type ResolvedBrowser } from './resolve-browser.ts';
export { resolveConfigFrom, type ResolveConfig } from './resolve-config.ts';
export { resolveSettings } from './resolve-settings.ts';
