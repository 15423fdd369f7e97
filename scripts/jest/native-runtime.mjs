// Lets jest run test files as plain modules of its worker instead of in a `vm` context for each file: the modules that the
// files share are loaded once for each worker. Jest's own runtime loads some 700 modules anew for a file that starts an app,
// which took more time than most tests. The price: files in one worker share global state, and `jest.mock` does not exist.
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
register('./typescript-loader.mjs', import.meta.url);
const CIRCUS_HANDLERS = Symbol.for('EVENT_HANDLERS');
let runs = 0;

/** The part of jest's `Runtime` that its runner and jest-circus use. */
export default class NativeRuntime {
  requireInternalModule(path) {
    // jest-circus keeps the state of a file in the module and in a global, so each file needs them new.
    delete require.cache[path];
    delete globalThis[CIRCUS_HANDLERS];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** Loads a test file; in watch mode the same one more than once. */
  unstable_importModule(path) {
    runs += 1;
    return import(`${pathToFileURL(path).href}?run=${runs}`);
  }

  // Types are blanked out, so that positions in the sources and in what runs are the same.
  getSourceMaps() {
    return new Map();
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  setGlobalsForRuntime() {}
  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}
}
