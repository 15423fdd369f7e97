import { setTimeout as sleep } from 'node:timers/promises';
import { argumentsOf, familyOf, isRunning, memoryMb } from '../measure/proc.ts';
import { median, type Sample } from '../measure/statistics.ts';
import { ask, type Candidate } from './candidates.ts';
import { SHOP_TITLE, type Pages } from './pages.ts';
import { connectStdio, type McpClient } from './stdio-client.ts';

export interface Setting {
  readonly pages: Pages;
  readonly samples: number;
  readonly folder: string;
  /** Counts the tokens of a text. */
  readonly tokens: ((text: string) => number) | undefined;
}

// Nothing listens there.
const DEAD_URL = 'http://127.0.0.1:1/';
const TRIES_AFTER_DEAD = 5;
const GONE_POLL_MS = 5;
const GONE_TIMEOUT_MS = 10_000;
const PAGE_STATE =
  '() => `${document.getElementById("count").textContent} clicks, ${document.getElementById("name").value}`';

/** One candidate in one round. */
interface Turn {
  readonly candidate: Candidate;
  client: McpClient;
  readonly times: Record<string, number[]>;
  readonly found: Record<string, number>;
  readonly button: string;
  readonly field: string;
}

/** Starts each candidate anew, and runs each operation on one right after the other, in changing order. */
export async function measureRound(
  candidates: readonly Candidate[],
  setting: Setting,
): Promise<readonly Sample[]> {
  const { pages, samples } = setting;
  const turns: Turn[] = [];
  try {
    for (const candidate of candidates) turns.push(await begin(candidate, setting));
    for (let sample = 1; sample <= samples; sample += 1) {
      const first = sample % turns.length;
      const order = [...turns.slice(first), ...turns.slice(0, first)];
      for (const turn of order) await take(turn, 'snapshot');
      for (const turn of order) await take(turn, 'click', turn.button);
      for (const turn of order) await take(turn, 'type', turn.field, `Ann ${sample}`);
      for (const turn of order) await take(turn, 'evaluate', '() => document.title');
      for (const turn of order) await take(turn, 'screenshot');
    }
    // A candidate without effect is not measured.
    for (const turn of turns) {
      const { text } = await must(turn, 'evaluate', PAGE_STATE);
      if (!text.includes(`${samples} clicks, Ann ${samples}`))
        throw new Error(`${turn.candidate.label}: the page shows ${text}`);
    }
    for (let sample = 0; sample < samples; sample += 1)
      for (const turn of turns) await take(turn, 'navigate', pages.shop);
    for (const turn of turns) await finish(turn, setting);
  } finally {
    for (const { client } of turns) client.kill();
  }
  return turns.map(({ times, found }) => ({
    ...Object.fromEntries(Object.entries(times).map(([name, ms]) => [`${name}Ms`, median(ms)])),
    ...found,
  }));
}

async function begin(candidate: Candidate, { pages, folder, tokens }: Setting): Promise<Turn> {
  const client = await connect(candidate, folder);
  const turn = { candidate, client, times: {}, found: {}, button: '', field: '' };
  const { tools } = await client.listTools();
  // The first page also waits for the browser, which is no part of a navigation.
  await must(turn, 'navigate', pages.shop);
  const { text } = await must(turn, 'snapshot');
  return {
    ...turn,
    times: { initialize: [client.initializeMs] },
    found: {
      snapshotChars: text.length,
      snapshotTokens: tokens?.(text) ?? NaN,
      toolsTokens: tokens?.(JSON.stringify(tools)) ?? NaN,
    },
    button: candidate.refOf(text, 'button "Place order"') ?? '',
    field: candidate.refOf(text, 'textbox "Name"') ?? '',
  };
}

async function connect(candidate: Candidate, folder: string): Promise<McpClient> {
  const client = await connectStdio({ ...candidate, cwd: folder });
  await candidate.prepare?.(client);
  return client;
}

type Asked = Parameters<typeof ask> extends [unknown, unknown, ...infer Rest] ? Rest : never;

async function take(turn: Turn, ...asked: Asked): Promise<void> {
  const { ms } = await must(turn, ...asked);
  (turn.times[asked[0]] ??= []).push(ms);
}

/** Fails if the operation fails. */
async function must({ candidate, client }: Pick<Turn, 'candidate' | 'client'>, ...asked: Asked) {
  const answer = await ask(candidate, client, ...asked);
  if (answer.isError)
    throw new Error(`${candidate.label}: ${asked[0]} failed: ${answer.text.slice(0, 300)}`);
  return answer;
}

/** What is measured once: memory, special cases, and the end of the browser. */
async function finish(turn: Turn, { pages, folder }: Setting): Promise<void> {
  const { candidate, client, found } = turn;
  found['memoryMb'] = memoryMb(familyOf(client.pid));
  Object.assign(found, await oddCases(turn, pages));
  found['eofMs'] = await goneAfter(client, () => client.closeInput());
  turn.client = await connect(candidate, folder);
  await must(turn, 'navigate', pages.shop);
  found['killMs'] = await goneAfter(turn.client, () => turn.client.kill());
}

/** Here the behavior matters more than the time: 1 is yes. */
async function oddCases(turn: Turn, pages: Pages): Promise<Sample> {
  const { candidate, client } = turn;
  await must(turn, 'navigate', pages.covered);
  const { text } = await must(turn, 'snapshot');
  const under = candidate.refOf(text, 'button "Under"', '#under') ?? '';
  const covered = await ask(candidate, client, 'click', under);
  const dead = await ask(candidate, client, 'navigate', DEAD_URL);
  const reaches = async (): Promise<boolean> => {
    if ((await ask(candidate, client, 'navigate', pages.shop)).isError) return false;
    const title = await ask(candidate, client, 'evaluate', '() => document.title');
    return title.text.includes(SHOP_TITLE);
  };
  let failures = 0;
  while (failures < TRIES_AFTER_DEAD && !(await reaches())) failures += 1;
  return {
    coveredMs: covered.ms,
    isCoverNamed: Number(covered.isError && /\bov\b|modal/.test(covered.text)),
    isDeadReported: Number(dead.isError),
    failuresAfterDead: failures,
  };
}

/** How long the browser runs after its server was ended; NaN if it does not end. */
async function goneAfter({ pid }: McpClient, end: () => void): Promise<number> {
  const browsers = browsersOf(pid);
  const endedAt = performance.now();
  end();
  while (performance.now() - endedAt < GONE_TIMEOUT_MS) {
    if (!browsers.some(isRunning)) return performance.now() - endedAt;
    await sleep(GONE_POLL_MS);
  }
  return NaN;
}

/** The processes of the browser of a server, which may have others, such as a guard. */
export const browsersOf = (server: number): readonly number[] =>
  familyOf(server).filter((pid) =>
    argumentsOf(pid).some((each) => /^--(type|user-data-dir)=/.test(each)),
  );
