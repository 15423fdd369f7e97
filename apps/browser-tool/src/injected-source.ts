import { bundleInjected } from '../scripts/bundle-injected.mjs';

// Bundled from the sources in development and in tests. The build replaces this module by one that has only the texts, so
// that users do not need a bundler.

/** The scripts that run in pages, as an expression. */
export const injectedSource: string = bundleInjected('main');

/** The conversion of any value to JSON, as an expression: it also runs where the other scripts are not installed. */
export const jsonFormSource: string = bundleInjected('json-value');
