import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rpcCall, waitUntil } from '@model-gateway/testkit';
import { createAppProcess, type AppProcess } from './app-process.ts';

export const NODE_MODEL = 'gpt-4o-node-chaos';

const ENGINE = fileURLToPath(
  new URL('../../../../apps/gpu-agent/tests/child/chat-engine.mjs', import.meta.url),
);
const DEPLOYED_WITHIN_MS = 180_000;

interface NodeOptions {
  readonly rpcUrl: string;
  /** The port of the line to the tunnel. */
  readonly tunnelPort: number;
  readonly folder: string;
  /** The access token of the admin. */
  readonly token: string;
}

interface NodeStatus {
  readonly online: boolean;
  readonly connected_at: string | null;
  readonly models: readonly { readonly status: string }[];
}

/** A node with one deployed model, whose requests all pass the tunnel. */
export async function createGpuNode(options: NodeOptions): Promise<AppProcess> {
  const { rpcUrl, folder, token } = options;
  const config = join(folder, 'engines.json');
  const command = [
    process.execPath,
    ENGINE,
    '--model',
    '{id}',
    '--host',
    '{host}',
    '--port',
    '{port}',
  ];
  await writeFile(config, JSON.stringify({ default: { command, stop_timeout_secs: 1 } }));

  async function call<Result>(method: string, params: object): Promise<Result> {
    const { error, result } = await rpcCall(rpcUrl, method, params, token);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as Result;
  }
  const registered = await call<{ agent_id: string; token: string }>('agents.register', {
    machine_name: 'chaos',
    version: '1',
    hosts: ['127.0.0.2'],
  });
  const { agent_id } = registered;
  const status = (): Promise<NodeStatus> => call('agents.status', { agent_id });
  const daemon = createAppProcess('node', () => ({
    app: 'gpu-agent',
    // The engine is not at the reported address.
    args: [
      '--url',
      `http://127.0.0.1:${options.tunnelPort}`,
      '--config',
      config,
      '--host',
      '127.0.0.2',
    ],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', AGENT_TOKEN: registered.token },
    readyPath: null,
  }));
  return Object.create(daemon, {
    start: {
      /** A daemon starts without models. */
      async value() {
        // The last daemon may still be listed as online for a moment.
        const last = await status().catch(() => undefined);
        await daemon.start();
        await waitUntil(
          async () => {
            const { online, connected_at, models } = await status();
            if (!online || connected_at === last?.connected_at) return false;
            if (models.length === 0)
              await call('agents.deploy', { model_id: NODE_MODEL, agent_id });
            return models[0]?.status === 'ready';
          },
          { timeoutMs: DEPLOYED_WITHIN_MS, what: 'a model on the node' },
        );
      },
    },
  }) as AppProcess;
}
