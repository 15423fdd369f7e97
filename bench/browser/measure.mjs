// What is measured of one contestant in one round: a fresh process, every wish several times, and how it ends.
import { browsersAmong, memoryMb, processesBelow, untilGone } from './browser-processes.mjs';
import { ask } from './contestants.mjs';
import { connectStdio } from './stdio-client.mjs';

// Nothing listens there.
const DEAD_URL = 'http://127.0.0.1:1/';
const TRIES_AFTER_DEAD = 5;

/** One round: the times of each wish, the sizes of what is sent, and what the odd cases come to. */
export async function measureRound(contestant, { pages, samples, tokens, folder }) {
  const self = await start(contestant, folder);
  try {
    const { tools } = await self.client.listTools();
    // The first page also waits for the browser, which is not what navigating costs.
    await must(self, 'navigate', pages.shop);
    const snapshot = (await must(self, 'snapshot')).text;
    const times = await measureWishes(self, { snapshot, samples, pages });
    const memory = memoryMb([self.client.pid, ...processesBelow(self.client.pid)]);
    const odd = await oddCases(self, pages);
    return {
      initializeMs: self.client.initializeMs,
      ...times,
      snapshotChars: snapshot.length,
      snapshotTokens: tokens?.(snapshot),
      toolsTokens: tokens?.(JSON.stringify(tools)),
      memoryMb: memory,
      ...odd,
      eofMs: await goneAfter(self.client, () => self.client.closeInput()),
      killMs: await goneAfterKill(contestant, { folder, pages }),
    };
  } finally {
    self.client.kill();
  }
}

async function start(contestant, folder) {
  const { command, environment } = contestant;
  const client = await connectStdio({ command, environment, cwd: folder });
  await contestant.prepare?.(client);
  return { ...contestant, client };
}

async function measureWishes(self, { snapshot, samples, pages }) {
  const button = self.refOf(snapshot, 'button "Place order"');
  const field = self.refOf(snapshot, 'textbox "Name"');
  const times = { snapshot: [], click: [], type: [], evaluate: [], screenshot: [], navigate: [] };
  const measure = async (wish, ...args) => times[wish].push((await must(self, wish, ...args)).ms);
  for (let sample = 1; sample <= samples; sample += 1) {
    await measure('snapshot');
    await measure('click', button);
    await measure('type', field, `Ann ${sample}`);
    await measure('evaluate', '() => document.title');
    await measure('screenshot');
  }
  await checkEffect(self, `${samples} clicks, Ann ${samples}`);
  for (let sample = 0; sample < samples; sample += 1) await measure('navigate', pages.shop);
  return Object.fromEntries(
    Object.entries(times).map(([wish, values]) => [`${wish}Ms`, middle(values)]),
  );
}

/** Who is fast and does nothing is not measured. */
async function checkEffect(self, expected) {
  const source =
    '() => `${document.getElementById("count").textContent} clicks, ${document.getElementById("name").value}`';
  const { text } = await must(self, 'evaluate', source);
  if (!text.includes(expected)) throw new Error(`the page shows ${text}, not ${expected}`);
}

/** A wish that fails measures nothing. */
async function must(self, wish, ...args) {
  const answer = await ask(self, wish, ...args);
  if (answer.isError) throw new Error(`${wish} failed: ${answer.text.slice(0, 300)}`);
  return answer;
}

async function oddCases(self, pages) {
  await must(self, 'navigate', pages.covered);
  const { text } = await must(self, 'snapshot');
  const covered = await ask(self, 'click', self.refOf(text, 'button "Under"', '#under'));
  const dead = await ask(self, 'navigate', DEAD_URL);
  let failures = 0;
  while (failures < TRIES_AFTER_DEAD && !(await reaches(self, pages))) failures += 1;
  return {
    coveredMs: covered.ms,
    isCoverReported: covered.isError,
    isCoverNamed: covered.isError && /\bov\b|modal/.test(covered.text),
    isDeadReported: dead.isError,
    failuresAfterDead: failures,
  };
}

async function reaches(self, { shop, titles }) {
  const { isError } = await ask(self, 'navigate', shop);
  if (isError) return false;
  const { text } = await ask(self, 'evaluate', '() => document.title');
  return text.includes(titles.shop);
}

async function goneAfterKill(contestant, { folder, pages }) {
  const self = await start(contestant, folder);
  await must(self, 'navigate', pages.shop);
  return goneAfter(self.client, () => self.client.kill());
}

/** How long the browser outlives what its server is told. */
async function goneAfter({ pid }, end) {
  const pids = browsersAmong(processesBelow(pid));
  end();
  return untilGone(pids);
}

/** The middle of some numbers. */
export function middle(values) {
  const sorted = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
