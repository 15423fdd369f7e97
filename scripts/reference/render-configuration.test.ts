import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processSettings as agentTunnel } from '../../apps/agent-tunnel/src/config.ts';
import { processSettings as browserTool } from '../../apps/browser-tool/src/config.ts';
import { processSettings as cli } from '../../apps/cli/src/config.ts';
import { processSettings as gateway } from '../../apps/gateway/src/config.ts';
import { processSettings as gpuAgent } from '../../apps/gpu-agent/src/config.ts';
import { processSettings as rpc } from '../../apps/rpc/src/config.ts';
import { processSettings as standalone } from '../../apps/standalone/src/config.ts';
import { processSettings as videoWorker } from '../../apps/video-worker/src/config.ts';
import { renderConfiguration } from './render-configuration.mjs';

test('the configuration reference matches the code (pnpm build && node scripts/reference.mjs)', async () => {
  const written = await readFile(join('docs', 'reference', 'configuration.md'), 'utf8');
  expect(written).toBe(
    renderConfiguration([
      { name: 'standalone', settings: standalone },
      { name: 'gateway', settings: gateway },
      { name: 'rpc', settings: rpc },
      { name: 'agent-tunnel', settings: agentTunnel },
      { name: 'video-worker', settings: videoWorker },
      { name: 'gpu-agent', settings: gpuAgent },
      { name: 'browser-tool', settings: browserTool },
      { name: 'cli', settings: cli },
    ]),
  );
});
