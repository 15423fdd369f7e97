import { startChatUpstream, type RunningChatUpstream } from '../chat/chat-upstream.ts';
import { asNumber, asObject } from '@model-gateway/demo-model/answers';
import { connectSocket, type SocketClient } from '../wire/socket-client.ts';
import { startBridgeAgent, type RunningBridgeAgent } from './bridge-agent.ts';

let upstream: RunningChatUpstream;
let agent: RunningBridgeAgent;
let client: SocketClient;
beforeEach(async () => {
  upstream = await startChatUpstream();
  agent = await startBridgeAgent({
    targets: { 'gpu-1/chat': { host: '127.0.0.1', port: upstream.port } },
  });
  client = await connectSocket(agent.url);
});
afterEach(async () => {
  await agent.close();
  await upstream.close();
});

async function connect(service = 'chat'): Promise<number> {
  const answer = await client.call('Bridge.Connect', { node: 'gpu-1', service });
  return asNumber(asObject(answer.result).local_port) ?? 0;
}
const models = (port: number): Promise<Response> => fetch(`http://127.0.0.1:${port}/v1/models`);

describe('the bridge agent', () => {
  it('forwards a local port to the service, the same port for the same service', async () => {
    const port = await connect();
    expect(await connect()).toBe(port);
    expect((await models(port)).status).toBe(200);
    expect(upstream.requestCount).toBe(1);
    expect(agent.localPort('gpu-1', 'chat')).toBe(port);
  });

  it('drops a tunnel and opens it again on another port', async () => {
    const port = await connect();
    await agent.dropTunnel('gpu-1', 'chat');
    await expect(models(port)).rejects.toThrow('fetch failed');
    const other = await connect();
    expect(other).not.toBe(port);
    expect((await models(other)).status).toBe(200);
  });

  it('breaks the connection when the service behind it is unavailable', async () => {
    const port = await connect();
    await upstream.refuse();
    await expect(models(port)).rejects.toThrow('fetch failed');
  });

  it('refuses an unknown service until its address is set', async () => {
    const refused = await client.call('Bridge.Connect', { node: 'gpu-1', service: 'other' });
    expect(refused.error).toMatchObject({ message: 'no such service: gpu-1/other' });
    agent.setTarget('gpu-1', 'other', { host: '127.0.0.1', port: upstream.port });
    expect((await models(await connect('other'))).status).toBe(200);
  });

  it('fails as planned', async () => {
    agent.faults.next({ kind: 'error', message: 'node offline' });
    const refused = await client.call('Bridge.Connect', { node: 'gpu-1', service: 'chat' });
    expect(refused.error).toMatchObject({ message: 'node offline' });
  });

  it('closes its tunnels with itself', async () => {
    const port = await connect();
    await agent.close();
    await expect(models(port)).rejects.toThrow('fetch failed');
  });
});
