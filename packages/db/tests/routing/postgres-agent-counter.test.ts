import { newId, sha256Hex } from '@model-gateway/kernel';
import { openTestDatabase } from '../test-database.ts';

const NOT_DEPLOYED = 'moved';

test('agents are counted by their connection and heartbeat, GPUs and deployed, ready models on those that are online', async () => {
  const database = await openTestDatabase();
  const heartbeatSince = new Date('2026-01-01T00:00:00Z');
  const count = () => database.agentCounter.count({ heartbeatSince });
  expect(await count()).toEqual({ agentsOnline: 0, gpuNodes: 0, modelsDeployed: 0 });

  const agent = async (
    heartbeat: string | null,
    gpus: unknown,
    models: readonly (readonly [string, string])[],
    connectionId: string | null = newId(),
  ) => {
    const id = newId();
    await database.raw.query(
      `INSERT INTO agent_nodes (id, name, token_hash, version, gpus, last_heartbeat_at, connection_id)
       VALUES ($1, 'node', $2, '1', $3, $4, $5)`,
      [id, sha256Hex(id), JSON.stringify(gpus), heartbeat, connectionId],
    );
    for (const [model, status] of models) {
      await database.raw.query(
        'INSERT INTO agent_models (agent_id, model_id, status) VALUES ($1, $2, $3)',
        [id, model, status],
      );
      if (model !== NOT_DEPLOYED)
        await database.raw.query(
          'INSERT INTO agent_deployments (agent_id, model_id) VALUES ($1, $2)',
          [id, model],
        );
    }
  };
  const gpu = { name: 'L4', memory_total_mb: 24_000 };
  await agent(
    '2026-01-01T00:00:00Z',
    [gpu, gpu],
    [
      ['m1', 'ready'],
      ['m2', 'pulling'],
    ],
  );
  await agent(
    '2026-01-01T00:00:05Z',
    [],
    [
      ['m1', 'ready'],
      ['m3', 'ready'],
      [NOT_DEPLOYED, 'ready'],
    ],
  );
  await agent('2026-01-01T00:00:05Z', {}, []);
  await agent('2025-12-31T23:59:59Z', [gpu], [['m4', 'ready']]);
  await agent(null, [gpu], [['m5', 'ready']]);
  await agent('2026-01-01T00:00:05Z', [gpu], [['m6', 'ready']], null);
  expect(await count()).toEqual({ agentsOnline: 3, gpuNodes: 1, modelsDeployed: 2 });
  await database.close();
});
