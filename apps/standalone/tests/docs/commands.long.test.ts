import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@model-gateway/testkit';
import { allDocuments } from './all-documents.ts';
import type { Block } from './document.ts';
import { openDocumentedWorld, type DocumentedWorld } from './documented-world.ts';
import { openShellSession, type ShellSession } from './shell-session.ts';
import { missingOutput } from './shown-output.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const EVENTUALLY_MS = 60_000;
/** The interval of repeated commands; a shorter one would reach the rate limit. */
const AGAIN_MS = 500;
const QUICK_START = 'docs/quick-start.md';
const GUIDES = 'docs/guides/README.md';
/** What every guide begins with: the section of this name signs in and makes a key. */
const BEFORE = 'Before you start';
/** Output of a failed command, in a block that does not show it. */
const FAILURE = /"error": ?\{|^curl: \(|^(Invalid API key|Missing Authorization|Rate limit)/m;

const documents = allDocuments(ROOT).filter(
  ({ path, blocks }) =>
    (path === 'README.md' || path === QUICK_START || path.startsWith('docs/guides/')) &&
    blocks.some(isRun),
);
// The quick start makes the first account.
const inOrder = documents.toSorted(
  (left, right) => Number(right.path === QUICK_START) - Number(left.path === QUICK_START),
);
const before: readonly Block[] =
  documents
    .find(({ path }) => path === GUIDES)
    ?.blocks.filter(({ heading }) => heading === BEFORE) ?? [];
let world: DocumentedWorld;

beforeAll(async () => {
  world = await openDocumentedWorld(ROOT);
});
afterAll(async () => {
  await world.close();
});

test.each(inOrder.map((document) => [document.path, document] as const))(
  'the commands of %s print what it shows',
  async (path, document) => {
    const folder = await world.folder();
    const session = openShellSession({ folder, environment: world.environment });
    try {
      if (path.startsWith('docs/guides/') && path !== GUIDES) await runAll(before, session, folder);
      await runAll(document.blocks, session, folder);
    } finally {
      await session.close();
    }
  },
);

function isRun({ language, notRun, isOutput }: Block): boolean {
  return language === 'sh' && notRun === undefined && !isOutput;
}

async function runAll(
  blocks: readonly Block[],
  session: ShellSession,
  folder: string,
): Promise<void> {
  for (const [index, block] of blocks.entries()) {
    if (block.writes !== undefined) {
      await writeFile(join(folder, block.writes), world.translate(block.text));
    }
    if (!isRun(block)) continue;
    const next = blocks[index + 1];
    await run(block, next?.isOutput === true ? next : undefined, session);
  }
}

async function run(block: Block, shown: Block | undefined, session: ShellSession): Promise<void> {
  const text = world.translate(block.text);
  const expected = world.translate(shown?.text ?? '');
  let printed = await session.run(text);
  const missing = () => missingOutput(expected, shown?.language ?? '', printed);
  if (block.isEventual && missing() !== undefined) {
    await waitUntil(
      async () => {
        await sleep(AGAIN_MS);
        printed = await session.run(text);
        return missing() === undefined;
      },
      { timeoutMs: EVENTUALLY_MS, what: `the output of ${block.place}` },
    ).catch(() => undefined);
  }
  const problem = missing() ?? (shown === undefined ? FAILURE.exec(printed)?.[0] : undefined);
  if (problem !== undefined) {
    const what = shown === undefined ? 'failed' : 'did not print what is shown';
    throw new Error(`${block.place} ${what}: ${problem}\nit printed:\n${printed}`);
  }
}
