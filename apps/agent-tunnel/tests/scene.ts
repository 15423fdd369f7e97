import { fileURLToPath } from 'node:url';
import { serverSettings, surfaceSettings } from '@model-gateway/http';
import { loadConfig, silentLog } from '@model-gateway/kernel';
import {
  createTestContext,
  createTestAccount,
  rpcCall,
  waitUntil,
  type TestContext,
} from '@model-gateway/testkit';
import { createGateway, gatewaySettings } from 'gateway/app';
import { createGpuAgent, type GpuAgent } from 'gpu-agent/app';
import { accountSettings, createRpc } from 'rpc/app';
import { agentTunnelSettings, createAgentTunnel, type AgentTunnelConfig } from '../src/app.ts';
import type { SimulatedAgent } from './simulated-agent.ts';

/** The server apps on real stores, an admin, and a key to chat with. */
export interface Scene {
  readonly test: TestContext;
  readonly gatewayUrl: string;
  readonly rpcUrl: string;
  readonly tunnelUrl: string;
  /** The paths that the tunnel serves. */
  readonly tunnelRoutes: readonly string[];
  readonly adminToken: string;
  readonly key: string;
  /** Calls a method as the admin; throws the error of a refusal. */
  call<Result>(method: string, params?: unknown): Promise<Result>;
  /** The node may name the hosts as its own. */
  register(name: string, hosts?: readonly string[]): Promise<Registered>;
  agent(agentId: string): Promise<AgentRecord>;
  chat(model: string, body?: Readonly<Record<string, unknown>>): Promise<Response>;
  /** Subscribes to a notification stream. */
  listen(streamId: string): Promise<ProgressStream>;
  close(): Promise<void>;
}

export interface Registered {
  readonly agent_id: string;
  readonly token: string;
}

export interface AgentRecord {
  readonly id: string;
  readonly status: string;
  readonly online: boolean;
  readonly host: string | null;
  readonly hosts: readonly string[];
  readonly models: readonly { model_id: string; status: string; port: number | null }[];
  readonly gpus: readonly unknown[];
  readonly gpu_utilization: number | null;
  readonly last_heartbeat_at: string | null;
}

export interface Progress {
  readonly stream_id: string;
  readonly agent_id: string;
  readonly model_id: string;
  readonly status: string;
  readonly progress: number;
  readonly message?: string;
}

export interface ProgressStream {
  readonly notices: readonly Progress[];
  /** Everything up to the end of the deployment. */
  end(): Promise<readonly Progress[]>;
  close(): void;
}

export async function startScene(
  env: Readonly<Record<string, string>> = {},
  tunnel: Pick<AgentTunnelConfig, 'canTunnel'> = {},
): Promise<Scene> {
  const test = await createTestContext();
  const { context } = test;
  await context.database.plans.saveTier('free', {
    monthlyUsdQuota: null,
    monthlyTokenQuota: null,
    rpm: null,
  });
  const config = loadConfig(
    {
      ...serverSettings(0),
      ...surfaceSettings,
      ...gatewaySettings,
      ...accountSettings,
      ...agentTunnelSettings,
    },
    { SERVICE_API_RATE_LIMIT_RPM: '100000', ...env },
  );
  const agentTunnel = createAgentTunnel({ ...config, ...tunnel }, context);
  const tunnelUrl = await test.serve(agentTunnel);
  const rpcUrl = await test.serve(createRpc(config, context));
  const gatewayUrl = await test.serve(createGateway(config, context));
  const { token: adminToken } = await createTestAccount(context, 'admin@example.com');
  async function call<Result>(method: string, params: unknown = {}): Promise<Result> {
    const response = await rpcCall(rpcUrl, method, params, adminToken);
    if (response.error !== undefined) throw new Error(response.error.message);
    return response.result as Result;
  }
  const { key } = await call<{ key: string }>('keys.create', { name: 'test' });
  return {
    test,
    gatewayUrl,
    rpcUrl,
    tunnelUrl,
    tunnelRoutes: agentTunnel.routes,
    adminToken,
    key,
    call,
    register: (name, hosts) =>
      call('agents.register', { machine_name: name, version: '1.0.0', hosts }),
    agent: (agentId) => call('agents.status', { agent_id: agentId }),
    chat: (model, body = {}) =>
      fetch(`${gatewayUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }], ...body }),
      }),
    listen: (streamId) => listenTo(rpcUrl, streamId),
    close: () => test.close(),
  };
}

async function listenTo(rpcUrl: string, streamId: string): Promise<ProgressStream> {
  const controller = new AbortController();
  const response = await fetch(`${rpcUrl}/api/rpc/events?session=${streamId}`, {
    signal: controller.signal,
  });
  const notices: Progress[] = [];
  void (async () => {
    let rest = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data: ')) continue;
        notices.push((JSON.parse(line.slice(6)) as { params: Progress }).params);
      }
    }
  })().catch(() => undefined);
  const isEnd = ({ status }: Progress): boolean => status === 'ready' || status === 'failed';
  return {
    notices,
    async end() {
      await waitUntil(() => notices.some(isEnd), { what: 'the end of the deployment' });
      return notices;
    },
    close: () => controller.abort(),
  };
}

/** Deploys models on a simulated node that has them at this port. */
export async function deployOn(
  scene: Scene,
  { agent, agent_id }: { readonly agent: SimulatedAgent; readonly agent_id: string },
  port: number,
  modelIds: readonly string[] = ['m'],
  more: object = {},
): Promise<void> {
  for (const model_id of modelIds) {
    const { stream_id } = await scene.call<{ stream_id: string }>('agents.deploy', {
      model_id,
      agent_id,
      ...more,
    });
    const stream = await scene.listen(stream_id);
    (await agent.nextCall('Agent.Deploy')).respond({ result: { port } });
    const end = (await stream.end()).at(-1);
    stream.close();
    if (end?.status !== 'ready') throw new Error(end?.message ?? 'the deployment failed');
  }
}

const ENGINE = fileURLToPath(
  new URL('../../gpu-agent/tests/child/chat-engine.mjs', import.meta.url),
);

/** The configuration of the test engine, in the form of the configuration file. */
export const engineCommand = (...args: readonly string[]): readonly string[] => [
  process.execPath,
  ENGINE,
  '--model',
  '{id}',
  '--host',
  '{host}',
  '--port',
  '{port}',
  ...args,
];

/** The daemon of a node inside the test process; its engines are separate processes. */
export function createNode(
  { tunnelUrl }: Pick<Scene, 'tunnelUrl'>,
  token: string,
  options: { readonly args?: readonly string[]; readonly host?: string } = {},
): GpuAgent {
  return createGpuAgent(
    {
      url: `${tunnelUrl.replace('http', 'ws')}/ws/agent`,
      token,
      version: '1.2.3',
      engines: {
        models: {},
        default: {
          command: engineCommand(...(options.args ?? [])),
          pull: undefined,
          env: {},
          model: undefined,
          readyPath: '/v1/models',
          readyTimeoutMs: 120_000,
          stopGraceSecs: 5,
        },
      },
      advertisedHost: options.host,
      listenHost: '127.0.0.1',
      logLevel: 'silent',
      environment: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    },
    silentLog,
  );
}
