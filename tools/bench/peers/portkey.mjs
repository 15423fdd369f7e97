// The Portkey gateway from npm, the most similar peer.
import { ensurePackage } from '../ensure-package.mjs';

/** The version of the comparison. */
export const PORTKEY_VERSION = '1.15.2';

/** Finds or downloads the pinned Portkey; undefined if the registry is unreachable. */
export const ensurePortkey = () =>
  ensurePackage({
    name: '@portkey-ai/gateway',
    version: PORTKEY_VERSION,
    program: 'build/start-server.js',
    // With later versions of its HTTP server, Portkey fails every stream with 500 because it changes immutable headers.
    overrides: { '@hono/node-server': '1.13.8' },
  });

/** The command that runs it, without its web page. */
export function portkeyCommand({ node, program, port }) {
  return [node, program, `--port=${port}`, '--headless'];
}
