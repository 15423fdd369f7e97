// What is measured of one contestant in one round: a fresh process, every wish several times, and how it ends.
import { processesBelow, untilGone } from './browser-processes.mjs';
import { ask } from './contestants.mjs';
import { connectStdio } from './stdio-client.mjs';

const DEAD_URL = 'http://127.0.0.1:1/';

/** One round: the times of each wish, the sizes of what is sent, and what the odd cases come to. */
export async function measureRound(contestant, { pages, samples, tokens, folder }) {
  const open = () => connectStdio({ command: contestant.command, cwd: folder });
  const client = await open();
  const self = { ...contestant, client };
  const { tools } = await client.listTools();
  if (contestant.name === 'devtools') await client.call('list_pages', {});
  // The first page also starts the browser, which is not what navigating costs.
  await ask(self, 'navigate', pages.shop);
  const first = await ask(self, 'snapshot');
  const button = contestant.refOf(first.text, 'button "Place order"');
  const field = contestant.refOf(first.text, 'textbox "Name"');
  const times = { navigate: [], snapshot: [], click: [], type: [], evaluate: [], screenshot: [] };
  for (let sample = 0; sample < samples; sample += 1) {
    times.snapshot.push((await must(self, 'snapshot')).ms);
    times.click.push((await must(self, 'click', button)).ms);
    times.type.push((await must(self, 'type', field, `Ann ${sample}`)).ms);
    times.evaluate.push((await must(self, 'evaluate', '() => document.title')).ms);
    times.screenshot.push((await must(self, 'screenshot')).ms);
  }
  for (let sample = 0; sample < samples; sample += 1) {
    times.navigate.push((await must(self, 'navigate', pages.shop)).ms);
  }
  const odd = await oddCases(self, pages);
  const eofMs = await goneAfter(client, () => client.closeInput());
  const killMs = await goneAfterKill(contestant, { open, pages });
  return {
    initializeMs: client.initializeMs,
    ...Object.fromEntries(
      Object.entries(times).map(([wish, values]) => [`${wish}Ms`, middle(values)]),
    ),
    snapshotTokens: tokens?.(first.text),
    toolsTokens: tokens?.(JSON.stringify(tools)),
    ...odd,
    eofMs,
    killMs,
  };
}

/** A wish that fails measures nothing. */
async function must(self, wish, ...args) {
  const answer = await ask(self, wish, ...args);
  if (answer.isError)
    throw new Error(`${self.label}: ${wish} failed: ${answer.text.slice(0, 300)}`);
  return answer;
}

async function oddCases(self, pages) {
  await ask(self, 'navigate', pages.covered);
  const { text } = await ask(self, 'snapshot');
  const covered = await ask(self, 'click', self.refOf(text, 'button "Under"'));
  const dead = await ask(self, 'navigate', DEAD_URL);
  let failures = 0;
  while (failures < 5 && !(await reaches(self, pages.shop))) failures += 1;
  return {
    coveredMs: covered.ms,
    coveredOutcome: covered.isError ? nameOfCover(covered.text) : 'false success',
    deadOutcome: dead.isError ? 'error' : 'reported as success',
    failuresAfterDead: failures,
  };
}

const nameOfCover = (text) => (/ov|modal/.test(text) ? 'error that names the cover' : 'error');

async function reaches(self, url) {
  const { isError } = await ask(self, 'navigate', url);
  if (isError) return false;
  const { text } = await ask(self, 'evaluate', '() => document.title');
  return text.includes('Bench Shop');
}

async function goneAfter(client, end) {
  const pids = processesBelow(client.pid);
  end();
  return untilGone(pids);
}

async function goneAfterKill(contestant, { open, pages }) {
  const client = await open();
  const self = { ...contestant, client };
  if (contestant.name === 'devtools') await client.call('list_pages', {});
  await ask(self, 'navigate', pages.shop);
  return goneAfter(client, () => client.kill());
}

/** The middle of some numbers. */
export function middle(values) {
  const sorted = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
