import { silentLog } from '@model-gateway/kernel';
import type { DeployNotice } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { createAgentCalls } from '../nodes/agent-calls.ts';
import { createDeploys } from './deploys.ts';

const REPORT_TIMEOUT_MS = 300;
const COMMON = { agent_id: 'a', progress: 0 };

/** The deployments of a node whose responses come from the test, with a store in memory. */
function setUp(options: { readonly isStoreDown?: () => boolean } = {}) {
  const notices: DeployNotice[] = [];
  const pending = new Map<string, string[]>();
  const sent: { id: number; params: { stream_id: string } }[] = [];
  const calls = createAgentCalls((text) => sent.push(JSON.parse(text) as (typeof sent)[number]));
  const push = async (notice: DeployNotice): Promise<void> => void notices.push(notice);
  const deploys = createDeploys({
    node: { agentId: 'a', connectionId: 'c' },
    calls,
    connections: {
      async beginDeploy(_node, modelId, streamId) {
        pending.set(modelId, [...(pending.get(modelId) ?? []), streamId]);
        return 'begun';
      },
      async endDeploy(_agentId, modelId) {
        if (options.isStoreDown?.() === true) throw new Error('the store is down');
        const streams = pending.get(modelId) ?? [];
        pending.delete(modelId);
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
    onFailed: () => undefined,
    log: silentLog,
    reportTimeoutMs: REPORT_TIMEOUT_MS,
  });
  const progress = (percent: number) =>
    deploys.onProgress({
      stream_id: 's',
      model_id: 'm',
      status: 'pulling',
      progress: percent,
    });
  return { deploys, calls, notices, sent, progress };
}

test('a node that reports nothing for too long has failed; every report restarts the timeout', async () => {
  const { deploys, notices, progress } = setUp();
  await deploys.begin('m', 's');
  const begunAt = performance.now();
  const reporting = setInterval(() => progress(50), REPORT_TIMEOUT_MS / 3);
  await waitUntil(() => performance.now() - begunAt > REPORT_TIMEOUT_MS * 2);
  clearInterval(reporting);
  expect(notices.every(({ status }) => status === 'pulling')).toBe(true);
  await waitUntil(() => notices.at(-1)?.status === 'failed');
  expect(notices.at(-1)?.message).toBe('the agent reported nothing for 0.3 seconds');
  expect(deploys.isRunning('s', 'm')).toBe(false);
});

test('a late response to a failed deployment changes nothing', async () => {
  const { deploys, calls, notices, sent } = setUp();
  await deploys.begin('m', 's');
  deploys.cancel('m', 'the deployment was stopped');
  await waitUntil(() => notices.length === 1);
  expect(calls.settle(sent[0]?.id ?? 0, { ok: true, result: { port: 1 } })).toBe(true);
  expect(notices).toMatchObject([{ status: 'failed', message: 'the deployment was stopped' }]);
});

test('while the store is down, the known streams get the end', async () => {
  const { deploys, notices, calls } = setUp({ isStoreDown: () => true });
  await deploys.begin('m', 's');
  await deploys.begin('m', 't');
  calls.close('the agent disconnected');
  await waitUntil(() => notices.length === 2);
  expect(notices.map(({ stream_id, status }) => `${stream_id} ${status}`)).toEqual([
    's failed',
    't failed',
  ]);
});

test('progress names the first stream and is published to every stream of the deployment', async () => {
  const { deploys, calls, notices, sent, progress } = setUp();
  await deploys.begin('m', 's');
  await deploys.begin('m', 't');
  expect(sent).toHaveLength(1);
  expect([deploys.isRunning('s', 'm'), deploys.isRunning('t', 'm')]).toEqual([true, false]);
  progress(10);
  expect(notices.map(({ stream_id }) => stream_id)).toEqual(['s', 't']);
  calls.close('done');
});

test('the number of concurrent deployments per node is limited', async () => {
  const { deploys, calls } = setUp();
  for (let index = 0; index < 32; index += 1)
    expect(await deploys.begin(`m${index}`, `s${index}`)).toEqual({});
  expect(await deploys.begin('one more', 's')).toEqual({
    refusal: '32 deployments are already in progress on this agent',
  });
  calls.close('done');
});
