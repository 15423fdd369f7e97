import { createRequestCounter } from '@model-gateway/inference';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway } from '../gateway.ts';

test('accepted turns are counted for the whole installation, refused ones are not', async () => {
  const gateway = await startGateway();
  const upstream = await startChatUpstream({ models: ['demo-chat'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  const chat = async (model: string): Promise<number> => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }),
    });
    await response.text();
    return response.status;
  };
  const { bus, clock, log } = gateway.test.context;
  const elsewhere = createRequestCounter({ counters: bus.counters, clock, log });

  expect(await chat('missing-model')).toBe(404);
  for (let turn = 0; turn < 3; turn += 1) expect(await chat('demo-chat')).toBe(200);
  await waitUntil(async () => (await elsewhere.read()).total >= 3);
  expect(await elsewhere.read()).toEqual({ total: 3, perMinute: 3 });

  await gateway.test.close();
  await upstream.close();
});
