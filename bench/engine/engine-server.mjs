// An engine in a separate process: `node engine-server.mjs PORT`.
const { startEngine } = await import(
  new URL('../../packages/testkit/dist/upstreams/index.js', import.meta.url).href
);

const engine = await startEngine({ port: Number(process.argv[2]), models: ['bench-engine'] });
process.once('SIGTERM', () => void engine.close().then(() => process.exit(0)));
