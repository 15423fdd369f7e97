import { defineConfig } from 'vite';

// The gateway that the development server talks to; `pnpm dev` starts both.
const GATEWAY = `http://127.0.0.1:${process.env.SERVICE_PORT ?? 8080}`;

export default defineConfig({
  base: '/console/',
  // The sources of the packages, as everywhere in the repository.
  resolve: { conditions: ['model-gateway-source', 'module', 'browser', 'development|production'] },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    target: 'es2023',
    // The first versions that know `light-dark()`, which would be replaced otherwise.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // A file as a data URL would be refused by the Content-Security-Policy, except for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1024,
    rolldownOptions: {
      // The libraries say "use client" for servers that render pages; there is none here.
      onLog: (level, log, handle) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
    },
  },
  server: { proxy: { '/api': GATEWAY, '/v1': GATEWAY, '/docs': GATEWAY } },
});
