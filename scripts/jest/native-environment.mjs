// The test environment that goes with native-runtime.mjs: the globals of the worker itself.
import { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import {
  createSecretWatch,
  watchedFetch,
  watchHttpClients,
  watchSocketClients,
} from './secret-watch.mjs';

const exit = process.exit.bind(process);

const watch = createSecretWatch();
globalThis.testSecrets = watch;
globalThis.fetch = watchedFetch(globalThis.fetch, watch);
watchHttpClients(IncomingMessage, watch);
// The copy that the tests use.
const testkit = createRequire(new URL('../../packages/testkit/package.json', import.meta.url));
watchSocketClients(testkit('ws'), watch);

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
    const findings = watch.takeFindings();
    if (findings.length > 0)
      throw new Error(`secrets in logs or error bodies of this file:\n- ${findings.join('\n- ')}`);
  }
}
