import { createRequestCounter } from '@model-gateway/inference';
import { startRpc } from './rpc-server.ts';

test('anyone may call system.status', async () => {
  const rpc = await startRpc();
  const { bus, clock, log } = rpc.test.context;
  const elsewhere = createRequestCounter({ counters: bus.counters, clock, log });
  elsewhere.accepted();
  elsewhere.accepted();
  await elsewhere.stop();
  expect((await rpc.call('system.status')).result).toEqual({
    agents_online: 0,
    gpu_nodes: 0,
    models_deployed: 0,
    requests_total: 2,
    requests_per_minute: 2,
    uptime_seconds: expect.any(Number),
  });
  await rpc.test.close();
});
