import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '@model-gateway/testkit';
import { infraFolder } from './infra-folder.ts';

/** A GPU node that gateways can reach only through the tunnel. */
export interface GpuNode {
  stop(): Promise<void>;
}

const ENGINE = join(infraFolder, '..', 'apps', 'gpu-agent', 'tests', 'child', 'chat-engine.mjs');
const PLACEHOLDERS = ['--model', '{id}', '--host', '{host}', '--port', '{port}'];

export async function startGpuNode(tunnelUrl: string, token: string): Promise<GpuNode> {
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-node-'));
  const config = join(folder, 'engines.json');
  const command = [process.execPath, ENGINE, ...PLACEHOLDERS];
  await writeFile(config, JSON.stringify({ default: { command, stop_timeout_secs: 1 } }));
  const daemon = await startProcess({
    app: 'gpu-agent',
    // Nothing listens on this address, so requests must use the tunnel.
    args: ['--url', tunnelUrl, '--config', config, '--host', '127.0.0.2'],
    env: { AGENT_TOKEN: token },
    readyPath: null,
  });
  return {
    async stop() {
      await daemon.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
