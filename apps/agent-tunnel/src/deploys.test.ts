import { silentLog } from '@model-gateway/kernel';
import type { DeployNotice } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { createAgentCalls } from './agent-calls.ts';
import { createDeploys } from './deploys.ts';

const SILENCE_MS_MAX = 300;
const COMMON = { agent_id: 'a', progress: 0 };

/** The deployments of a node whose answers come from the test, on a store that remembers streams. */
function setUp(options: { readonly isStoreAway?: () => boolean } = {}) {
  const heard: DeployNotice[] = [];
  const owed = new Map<string, string[]>();
  const sent: { id: number; params: { stream_id: string } }[] = [];
  const calls = createAgentCalls((text) => sent.push(JSON.parse(text) as (typeof sent)[number]));
  const push = async (notice: DeployNotice): Promise<void> => void heard.push(notice);
  const deploys = createDeploys({
    held: { agentId: 'a', connectionId: 'c' },
    calls,
    connections: {
      async beginDeploy(_held, modelId, streamId) {
        owed.set(modelId, [...(owed.get(modelId) ?? []), streamId]);
        return true;
      },
      async endDeploy(_agentId, modelId) {
        if (options.isStoreAway?.() === true) throw new Error('away');
        const streams = owed.get(modelId) ?? [];
        owed.delete(modelId);
        return streams;
      },
    },
    streams: {
      open: () => undefined,
      push,
      async fail({ modelId, streams }, message) {
        for (const stream_id of streams)
          await push({ ...COMMON, stream_id, model_id: modelId, status: 'failed', message });
      },
      start: async () => undefined,
      stop: async () => undefined,
    },
    readyPort: () => undefined,
    onReady: async () => undefined,
    log: silentLog,
    silenceMsMax: SILENCE_MS_MAX,
  });
  const progress = (percent: number) =>
    deploys.onProgress({
      stream_id: 's',
      model_id: 'm',
      status: 'pulling',
      progress: percent,
    });
  return { deploys, calls, heard, sent, progress };
}

test('a node that reports nothing for too long has failed; every report gives it the whole time again', async () => {
  const { deploys, heard, progress } = setUp();
  await deploys.begin('m', 's');
  const begunAt = performance.now();
  const reporting = setInterval(() => progress(50), SILENCE_MS_MAX / 3);
  await waitUntil(() => performance.now() - begunAt > SILENCE_MS_MAX * 2);
  clearInterval(reporting);
  expect(heard.every(({ status }) => status === 'pulling')).toBe(true);
  await waitUntil(() => heard.at(-1)?.status === 'failed');
  expect(heard.at(-1)?.message).toBe('the agent reported nothing for 0.3 seconds');
  expect(deploys.isRunning('s', 'm')).toBe(false);
});

test('a late answer to a deployment that has failed changes nothing', async () => {
  const { deploys, calls, heard, sent } = setUp();
  await deploys.begin('m', 's');
  deploys.cancel('m', 'the deployment was stopped');
  await waitUntil(() => heard.length === 1);
  expect(calls.settle(sent[0]?.id ?? 0, { ok: true, result: { port: 1 } })).toBe(true);
  expect(heard).toMatchObject([{ status: 'failed', message: 'the deployment was stopped' }]);
});

test('while the store is away, those who are known to listen are told the end', async () => {
  const { deploys, heard, calls } = setUp({ isStoreAway: () => true });
  await deploys.begin('m', 's');
  await deploys.begin('m', 't');
  calls.close('the agent left');
  await waitUntil(() => heard.length === 2);
  expect(heard.map(({ stream_id, status }) => `${stream_id} ${status}`)).toEqual([
    's failed',
    't failed',
  ]);
});

test('progress names the stream that the node was given, and reaches everybody who listens', async () => {
  const { deploys, calls, heard, sent, progress } = setUp();
  await deploys.begin('m', 's');
  await deploys.begin('m', 't');
  expect(sent).toHaveLength(1);
  expect([deploys.isRunning('s', 'm'), deploys.isRunning('t', 'm')]).toEqual([true, false]);
  progress(10);
  expect(heard.map(({ stream_id }) => stream_id)).toEqual(['s', 't']);
  calls.close('done');
});

test('a node is not asked for more at once than it can be expected to do', async () => {
  const { deploys, calls } = setUp();
  for (let index = 0; index < 32; index += 1)
    expect(await deploys.begin(`m${index}`, `s${index}`)).toEqual({});
  expect(await deploys.begin('one more', 's')).toEqual({
    refusal: '32 deployments are under way on this agent already',
  });
  calls.close('done');
});
