import { connectSocket, type SocketClient } from '../wire/socket-client.ts';
import { asList, asObject } from '@model-gateway/demo-model/answers';
import { startMemoryService, type RunningMemoryService } from './memory-service.ts';

let service: RunningMemoryService;
let client: SocketClient;
beforeEach(async () => {
  service = await startMemoryService({ token: 'secret' });
  client = await connectSocket(service.url, 'secret');
});
afterEach(() => service.close());

const recall = (user: string, query: string) =>
  client.call('Memory.Recall', { user_id: user, query, limit: 5 });

describe('the memory service', () => {
  it('recalls what was written, the closest first, up to the requested number', async () => {
    const messages = [
      { role: 'user', content: 'My cat is called Tom' },
      { role: 'assistant', content: 'Tom is a good name for a cat' },
      { role: 'user', content: 'It rains' },
    ];
    const written = await client.call('Memory.Write', { user_id: 'ann', messages });
    expect(asList(asObject(written.result).node_ids)).toHaveLength(3);
    const recalled = await recall('ann', 'How is my cat called?');
    expect(recalled.result).toMatchObject({
      nodes: [
        { text: 'My cat is called Tom', score: 0.8 },
        { text: 'Tom is a good name for a cat', score: 0.4 },
      ],
    });
    const one = await client.call('Memory.Recall', { user_id: 'ann', query: 'cat', limit: 1 });
    expect(asList(asObject(one.result).nodes)).toHaveLength(1);
  });

  it('shows and deletes nothing of another user', async () => {
    const node = service.remember('ann', 'the safe opens with 42');
    expect((await recall('bob', 'safe')).result).toEqual({ nodes: [] });
    const remove = (user: string) =>
      client.call('Memory.Delete', { user_id: user, node_id: node.node_id });
    expect((await remove('bob')).result).toEqual({ deleted: false });
    expect((await remove('ann')).result).toEqual({ deleted: true });
    expect((await remove('ann')).result).toEqual({ deleted: false });
    expect(service.nodes).toEqual([]);
  });

  it('refuses a wrong token, an unknown method and missing params', async () => {
    await expect(connectSocket(service.url, 'wrong')).rejects.toThrow('401');
    expect(service.refusedCount).toBe(1);
    expect((await client.call('Memory.Forget')).error).toMatchObject({ code: -32_601 });
    expect((await client.call('Memory.Recall')).error).toMatchObject({ code: -32_602 });
  });

  it('records frames and connections', async () => {
    await recall('ann', 'x');
    expect(service.frames.at(-1)).toMatchObject({
      method: 'Memory.Recall',
      params: { query: 'x' },
    });
    expect([service.callsOf('Memory.Recall'), service.frameCount]).toEqual([1, 1]);
    expect([service.connectionCount, service.openConnections]).toEqual([1, 1]);
    client.close();
    await service.until(() => service.openConnections === 0);
  });
});

describe('faults of a JSON-RPC service', () => {
  it('answers an error, garbage, late, or nothing', async () => {
    service.faults.next({ kind: 'error', code: -32_000, message: 'no' });
    expect((await recall('ann', 'x')).error).toEqual({ code: -32_000, message: 'no' });
    service.faults.next({ kind: 'garbage' });
    client.send({ jsonrpc: '2.0', id: 'a', method: 'Memory.Recall', params: {} });
    expect(await client.next()).toEqual({ raw: '{"jsonrpc": "2.' });
    service.faults.next({ kind: 'slow', delayMs: 40 });
    const startedAt = performance.now();
    await recall('ann', 'x');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(35);
    service.faults.next({ kind: 'silent' }, 1, 'Memory.Write');
    client.send({ jsonrpc: '2.0', id: 'b', method: 'Memory.Write', params: { user_id: 'ann' } });
    expect((await recall('ann', 'x')).result).toEqual({ nodes: [] });
  });

  it('closes during a call, stops and restarts', async () => {
    service.faults.next({ kind: 'close' });
    client.send({ jsonrpc: '2.0', id: 1, method: 'Memory.Recall', params: {} });
    expect(await client.closed).toBe(1006);
    await service.refuse();
    await expect(connectSocket(service.url, 'secret')).rejects.toThrow('ECONNREFUSED');
    await service.resume();
    client = await connectSocket(service.url, 'secret');
    expect((await recall('ann', 'x')).result).toEqual({ nodes: [] });
  });
});
