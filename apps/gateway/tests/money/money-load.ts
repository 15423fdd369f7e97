import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@model-gateway/kernel';
import { randomFrom } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { askChat, type ChatOutcome } from '../chat/chat-client.ts';
import type { MoneyKey } from './money-scene.ts';

/** How a client behaves: reads the whole response, or disconnects at a chosen or a random moment. */
export type Habit = 'whole' | 'streamed' | 'unpriced' | 'leaves-early' | 'leaves-stream' | 'leaves';

/** One request of the load, and what its client saw. */
export interface LoadRequest {
  readonly ref: string;
  readonly key: MoneyKey;
  readonly habit: Habit;
  readonly promptTokens: number;
  /** Of the whole response, or of the part that the client read. */
  readonly replyTokens: number;
  readonly outcome: ChatOutcome;
}

/** The upstreams of the load. */
export interface MoneyUpstreams {
  /** Its clients disconnect only after they have received everything that was sent. */
  readonly exact: RunningChatUpstream;
  /** Its clients disconnect at any moment, while more is being sent. */
  readonly hurried: RunningChatUpstream;
  close(): Promise<void>;
}

interface LoadOptions {
  readonly clients: number;
  readonly keys: readonly MoneyKey[];
  readonly seed: number;
  /** Where the next request goes. */
  readonly url: (random: () => number) => string;
  /** Called after each request; false ends its client. */
  readonly shouldContinue: (sent: LoadRequest) => boolean | Promise<boolean>;
  /** The longest pause of a client between two requests, so that other processes get CPU time. */
  readonly thinkMsMax?: number;
}

const EXACT = 'gpt-4o-exact';
const UNPRICED = 'demo-unpriced';
const HURRIED = 'gpt-4o-hurried@slow-chunks:2';
const STALLS = [1, 4, 9];
const PROMPT_TOKENS_MAX = 40;
const ANSWER_TOKENS_MAX = 24;
const LEAVES_WITHIN_MS = 60;

// One Chinese character is one token, both as upstreams count and as the gateway estimates.
const ANSWER = '好'.repeat(ANSWER_TOKENS_MAX);
const promptOf = (tokens: number): string => '问'.repeat(tokens);
const stalling = (tokens: number): string => `${EXACT}@stall:${tokens + 1}`;

export async function startMoneyUpstreams(): Promise<MoneyUpstreams> {
  const answer = (): string => ANSWER;
  const models = [EXACT, `${EXACT}@hang`, UNPRICED, ...STALLS.map(stalling)];
  const exact = await startChatUpstream({ models, answer, keepRequests: 0 });
  const hurriedModels = [HURRIED, HURRIED.split('@')[0] ?? ''];
  const hurried = await startChatUpstream({ models: hurriedModels, answer, keepRequests: 0 });
  return {
    exact,
    hurried,
    async close() {
      await Promise.all([exact.close(), hurried.close()]);
    },
  };
}

/** Runs clients that send one request after another, each with its own behavior. */
export async function runLoad(options: LoadOptions): Promise<readonly LoadRequest[]> {
  const { clients, seed, shouldContinue, thinkMsMax = 0 } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const sent: LoadRequest[] = [];

  async function client(number: number): Promise<void> {
    const random = randomFrom(seed + number);
    for (;;) {
      const one = await ask(options, agent, random);
      sent.push(one);
      if (!(await shouldContinue(one))) return;
      if (thinkMsMax > 0) await delay(random() * thinkMsMax);
    }
  }

  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  agent.destroy();
  return sent;
}

/** One client that leaves when the upstream has its request, which it never answers. */
export async function leaveUnanswered(
  { exact }: MoneyUpstreams,
  { key, url }: { readonly key: MoneyKey; readonly url: string },
): Promise<LoadRequest> {
  const agent = new Agent();
  const ref = newId();
  const promptTokens = PROMPT_TOKENS_MAX;
  const before = exact.requestCount;
  const outcome = await askChat({
    url,
    agent,
    secret: key.secret,
    ref,
    body: {
      model: modelOf('leaves-early', 0),
      messages: [{ role: 'user', content: promptOf(promptTokens) }],
    },
    hangUpAfter: exact.until(() => exact.requestCount > before),
  });
  return { ref, key, habit: 'leaves-early', promptTokens, replyTokens: 0, outcome };
}

/** Whether the client knows that something was served. */
export const isSurelyServed = ({ outcome }: LoadRequest): boolean =>
  outcome.isComplete || outcome.pieces > 0;

export const refsOf = (sent: readonly LoadRequest[]): readonly string[] =>
  sent.map(({ ref }) => ref);

async function ask(
  { keys, url }: LoadOptions,
  agent: Agent,
  random: () => number,
): Promise<LoadRequest> {
  const upTo = (max: number): number => 1 + Math.floor(random() * max);
  const key = keys[Math.floor(random() * keys.length)];
  if (key === undefined) throw new Error('there are no keys');
  const habit = habitOf(random());
  const ref = newId();
  const promptTokens = upTo(PROMPT_TOKENS_MAX);
  const stallsAfter = STALLS[upTo(STALLS.length) - 1] ?? 1;
  const replyTokens = habit === 'leaves-stream' ? stallsAfter : upTo(ANSWER_TOKENS_MAX);
  const outcome = await askChat({
    url: url(random),
    agent,
    secret: key.secret,
    ref,
    body: {
      model: modelOf(habit, stallsAfter),
      messages: [{ role: 'user', content: promptOf(promptTokens) }],
      max_tokens: ANSWER_TOKENS_MAX,
      ...(habit === 'leaves-stream' ? {} : { max_tokens: replyTokens }),
      stream: habit === 'streamed' || habit === 'leaves-stream' || habit === 'leaves',
      ...(random() < 0.5 ? { stream_options: { include_usage: true } } : {}),
    },
    ...(habit === 'leaves-stream' ? { hangUpAfterPieces: stallsAfter } : {}),
    ...(habit === 'leaves' || habit === 'leaves-early'
      ? { hangUpAfterMs: upTo(LEAVES_WITHIN_MS) }
      : {}),
  });
  return { ref, key, habit, promptTokens, replyTokens, outcome };
}

function habitOf(chance: number): Habit {
  if (chance < 0.35) return 'streamed';
  if (chance < 0.65) return 'whole';
  if (chance < 0.7) return 'unpriced';
  if (chance < 0.75) return 'leaves-early';
  return chance < 0.9 ? 'leaves-stream' : 'leaves';
}

function modelOf(habit: Habit, stallsAfter: number): string {
  switch (habit) {
    case 'unpriced':
      return UNPRICED;
    case 'leaves-early':
      return `${EXACT}@hang`;
    case 'leaves-stream':
      return stalling(stallsAfter);
    case 'leaves':
      return HURRIED;
    case 'whole':
    case 'streamed':
      return EXACT;
  }
}
