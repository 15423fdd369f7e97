import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@model-gateway/kernel';
import { pick, randomFrom, type Random } from '@model-gateway/testkit';
import type { Deployment } from '../deployment/deployment.ts';
import type { Call, LoadKind, Sent } from './outcome.ts';
import { questions } from './questions.ts';

/** A load that runs until it is stopped. */
export interface Load {
  readonly sent: readonly Sent[];
  /** Clients finish what they wait for. */
  stop(): Promise<void>;
}

interface LoadOptions {
  readonly deployment: Deployment;
  readonly seed: number;
  readonly clients: number;
  /** The longest pause of a client between two requests. */
  readonly thinkMsMax: number;
}

/** How many of a hundred requests are of each kind. */
const SHARES: Readonly<Record<LoadKind, number>> = {
  chat: 26,
  stream: 24,
  'node-chat': 5,
  'node-stream': 5,
  embeddings: 10,
  'rpc-chat': 10,
  'rpc-call': 13,
  points: 5,
  video: 2,
};
const KINDS = (Object.entries(SHARES) as [LoadKind, number][]).flatMap(([kind, share]) =>
  Array<LoadKind>(share).fill(kind),
);

export function startLoad({ deployment, seed, clients, thinkMsMax }: LoadOptions): Load {
  const sent: Sent[] = [];
  const stopping = new AbortController();

  async function sendOne(random: Random): Promise<void> {
    const kind = pick(random, KINDS);
    const ref = newId();
    const startedAt = performance.now();
    const payer = pick(random, deployment.accounts.payers);
    const calls: Call[] = [];
    const outcome = await questions[kind]({ deployment, payer, random, ref, calls });
    sent.push({ ref, kind, calls, outcome, ms: performance.now() - startedAt });
  }

  async function client(random: Random): Promise<void> {
    while (!stopping.signal.aborted) {
      await sendOne(random);
      await sleep(random() * thinkMsMax, undefined, { signal: stopping.signal }).catch(
        () => undefined,
      );
    }
  }
  const all = Promise.all(
    Array.from({ length: clients }, (_, number) => client(randomFrom(seed + 1_000 + number))),
  );
  return {
    sent,
    async stop() {
      stopping.abort();
      await all;
    },
  };
}
