import { newId } from '@model-gateway/kernel';
import { pick, randomFrom, waitUntil } from '@model-gateway/testkit';
import { questions } from '../load/questions.ts';
import type { Deployment } from '../deployment/deployment.ts';
import { PROBE_PREFIX } from '../deployment/scripted-upstream.ts';
import type { LoadKind } from '../load/outcome.ts';

const RECOVERED_WITHIN_MS = 180_000;
const PROBED: readonly LoadKind[] = [
  'chat',
  'stream',
  'node-chat',
  'embeddings',
  'rpc-chat',
  'rpc-call',
];

/** Waits until every process is ready and every kind of request is served; rejects with what is not. */
export async function recovered(deployment: Deployment): Promise<void> {
  const missing = new Set<string>([...deployment.processes.keys(), ...PROBED]);
  const random = randomFrom(1);
  const payer = pick(random, deployment.accounts.payers);

  async function probe(name: string): Promise<void> {
    const app = deployment.processes.get(name);
    if (app !== undefined) {
      const isReady = name === 'node' ? app.pid !== undefined : await isReadyAt(app.url);
      if (isReady) missing.delete(name);
      return;
    }
    const kind = PROBED.find((each) => each === name);
    if (kind === undefined) return;
    const outcome = await questions[kind]({
      deployment,
      payer,
      random,
      ref: `${PROBE_PREFIX}${newId()}`,
      calls: [],
    });
    if (outcome.name === 'complete') missing.delete(name);
  }
  await waitUntil(
    async () => {
      await Promise.all([...missing].map(probe));
      return missing.size === 0;
    },
    { timeoutMs: RECOVERED_WITHIN_MS },
  ).catch(() => {
    throw new Error(`not recovered: ${[...missing].join(', ')}`);
  });
}

const READY_MS_MAX = 5_000;

async function isReadyAt(url: string | undefined): Promise<boolean> {
  if (url === undefined) return false;
  const response = await fetch(`${url}/readyz`, {
    signal: AbortSignal.timeout(READY_MS_MAX),
  }).catch(() => undefined);
  return response?.status === 200;
}
