// One round: all candidates in new processes, and each operation on one candidate right after the other.
import { browsersAmong, memoryMb, processesBelow, untilExited } from './browser-processes.mjs';
import { ask } from './candidates.mjs';
import { connectStdio } from './stdio-client.mjs';
import { median } from '../workloads/rounds.mjs';

// Nothing listens there.
const DEAD_URL = 'http://127.0.0.1:1/';
const TRIES_AFTER_DEAD = 5;

/** The repeated operations with the arguments of each candidate. */
const OPERATIONS = {
  snapshot: () => [],
  click: ({ button }) => [button],
  type: ({ field }, sample) => [field, `Ann ${sample}`],
  evaluate: () => ['() => document.title'],
  screenshot: () => [],
};

/**
 * Runs one round of all candidates and returns the results by name. A candidate that fails is passed to `leaveOut` and has no
 * result.
 */
export async function measureRound(candidates, context, leaveOut) {
  const { pages, samples } = context;
  let present = candidates.map((candidate) => ({ ...candidate, times: {}, found: {} }));
  const inTurn = async (work, shift = 0) => {
    const order = [...present.slice(shift % present.length), ...present].slice(0, present.length);
    for (const self of order) {
      try {
        await work(self);
      } catch (error) {
        self.client?.kill();
        present = present.filter((each) => each !== self);
        leaveOut(self, error);
      }
    }
  };
  try {
    await inTurn((self) => begin(self, context));
    for (let sample = 1; sample <= samples; sample += 1) {
      for (const [operation, tell] of Object.entries(OPERATIONS)) {
        await inTurn((self) => take(self, operation, tell(self, sample)), sample);
      }
    }
    await inTurn((self) => checkEffect(self, `${samples} clicks, Ann ${samples}`));
    for (let sample = 1; sample <= samples; sample += 1) {
      await inTurn((self) => take(self, 'navigate', [pages.shop]), sample);
    }
    await inTurn((self) => finish(self, context));
  } finally {
    for (const { client } of present) client?.kill();
  }
  return new Map(present.map(({ name, times, found }) => [name, { ...middles(times), ...found }]));
}

async function begin(self, { pages, tokens, folder }) {
  await connect(self, folder);
  const { tools } = await self.client.listTools();
  // The first page also waits for the browser, which is not part of a navigation.
  await must(self, 'navigate', pages.shop);
  const snapshot = (await must(self, 'snapshot')).text;
  self.button = self.refOf(snapshot, 'button "Place order"');
  self.field = self.refOf(snapshot, 'textbox "Name"');
  self.found = {
    snapshotChars: snapshot.length,
    snapshotTokens: tokens?.(snapshot),
    toolsTokens: tokens?.(JSON.stringify(tools)),
  };
}

async function connect(self, folder) {
  const { command, environment } = self;
  self.client = await connectStdio({ command, environment, cwd: folder });
  note(self, 'initialize', self.client.initializeMs);
  await self.prepare?.(self.client);
}

const note = ({ times }, operation, ms) => (times[operation] ??= []).push(ms);

async function take(self, operation, args) {
  note(self, operation, (await must(self, operation, ...args)).ms);
}

/** Checks that the operations had an effect. */
async function checkEffect(self, expected) {
  const source =
    '() => `${document.getElementById("count").textContent} clicks, ${document.getElementById("name").value}`';
  const { text } = await must(self, 'evaluate', source);
  if (!text.includes(expected)) throw new Error(`the page shows ${text}, not ${expected}`);
}

/** Measured once: memory, special cases, and the end of the browser. */
async function finish(self, { pages, folder }) {
  const { client, found } = self;
  found.memoryMb = memoryMb([client.pid, ...processesBelow(client.pid)]);
  Object.assign(found, await oddCases(self, pages));
  found.eofMs = await goneAfter(client, () => client.closeInput());
  await connect(self, folder);
  await must(self, 'navigate', pages.shop);
  found.killMs = await goneAfter(self.client, () => self.client.kill());
}

/** Fails if the operation fails. */
async function must(self, operation, ...args) {
  const answer = await ask(self, operation, ...args);
  if (answer.isError) throw new Error(`${operation} failed: ${answer.text.slice(0, 300)}`);
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

/** How long the browser runs after its server was ended. */
async function goneAfter({ pid }, end) {
  const pids = browsersAmong(processesBelow(pid));
  end();
  return untilExited(pids);
}

const middles = (times) =>
  Object.fromEntries(
    Object.entries(times).map(([operation, values]) => [`${operation}Ms`, median(values)]),
  );
