// The test environment that goes with native-runtime.mjs: the globals of the worker itself.
const exit = process.exit.bind(process);

export default class NativeEnvironment {
  global = globalThis;

  getVmContext() {
    return undefined;
  }

  async setup() {}

  async teardown() {
    // Jest wraps it for every file.
    process.exit = exit;
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (symbol.description === 'JEST_STATE_SYMBOL') delete globalThis[symbol];
  }
}
