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
const README = 'README.md';
const QUICK_START = 'docs/quick-start.md';
/** It needs a browser and no service: a test of the browser tool runs it. */
const BROWSER_GUIDE = 'docs/browser-tool.md';
/** Every other guide starts with the variables of this section of the quick start. */
const VARIABLES = 'Variables that the other pages use';
/** Output of a failed command, in a block that does not show it. */
const FAILURE = /"error": ?\{|^curl: \(|^(Invalid API key|Missing Authorization|Rate limit)/m;

// An event stream does not end by itself: reading stops after the last expected event.
const CURL = `
curl() {
  case "$*" in
    */api/rpc/events*)
      local line
      while IFS= read -r line; do
        printf '%s\\n' "$line"
        case "$line" in
          *'"is_complete":true'* | *'"video.done"'* | *'"video.failed"'* | *'"response.done"'*) break ;;
          *'"models.progress"'*'"status":"ready"'* | *'"models.progress"'*'"status":"failed"'*) break ;;
        esac
      done < <(command curl --max-time 60 "$@") ;;
    *) command curl --max-time 60 "$@" ;;
  esac
}`;

const documents = allDocuments(ROOT).filter(
  ({ path, blocks }) => path !== BROWSER_GUIDE && blocks.some(isRun),
);
const quickStart = documents.find(({ path }) => path === QUICK_START);
const inOrder = documents.toSorted(
  (left, right) => Number(right.path === QUICK_START) - Number(left.path === QUICK_START),
);
let world: DocumentedWorld;
/** The access token of the quick start: one sign-in, which is slow on purpose, is enough for all pages. */
let accessToken: string | undefined;

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
    const isOnItsOwn = path === QUICK_START || path === README;
    const session = openShellSession({ folder, environment: world.environment, preamble: CURL });
    try {
      if (!isOnItsOwn) await runAll(variables(), session, folder);
      await runAll(document.blocks, session, folder);
      if (path === QUICK_START) accessToken = await session.run(`printf %s "$TOKEN"`);
    } finally {
      await session.close();
    }
  },
);

const variables = (): readonly Block[] =>
  (quickStart?.blocks ?? []).filter(({ heading }) => heading === VARIABLES).map(asSignedIn);

const asSignedIn = (block: Block): Block =>
  accessToken === undefined
    ? block
    : { ...block, text: block.text.replace(/^TOKEN=.*$/m, () => `TOKEN=${accessToken}`) };

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

/** The longest part of the shown output, which best identifies that a program is up. */
const longestPiece = (shown: string): string =>
  shown
    .split(/[…\n]/)
    .map((piece) => piece.trim())
    .reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '');

async function run(block: Block, shown: Block | undefined, session: ShellSession): Promise<void> {
  const text = world.translate(block.text);
  const expected = world.translate(shown?.text ?? '');
  if (block.isBackground) {
    await session.start(text, longestPiece(expected));
    return;
  }
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
