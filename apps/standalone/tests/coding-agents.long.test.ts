import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fullTest, rpcCall, temporaryDataDir } from '@model-gateway/testkit';
import { readDocument } from './docs/document.ts';
import { chatOnce, startStandalone } from './standalone.ts';

const run = promisify(execFile);
const project = join(import.meta.dirname, '..', '..', '..');
const ADMIN_TOKEN = 'the admin token of this test';
const EMAIL = 'you@example.com';
const DOCUMENTED_URL = 'http://127.0.0.1:8080';
const SHOWN_FILE = 'a-file-to-list.txt';

interface Agent {
  readonly name: string;
  readonly guide: string;
  readonly packages: readonly string[];
  /** Where it reads the settings that the guide has as TOML. */
  readonly settings?: string;
}

/** Several hundred megabytes, so they are no dependencies, and only the tests at full size install them. */
const AGENTS: readonly Agent[] = [
  {
    name: 'Codex',
    guide: 'docs/guides/codex.md',
    packages: ['@openai/codex@0.166.0'],
    settings: '.codex/config.toml',
  },
  {
    name: 'Claude Code',
    guide: 'docs/guides/claude-code.md',
    packages: ['@anthropic-ai/claude-code@2.1.197'],
  },
];

const blocksOf = (guide: string, language: string): string =>
  readDocument(project, guide)
    .blocks.filter((block) => block.language === language)
    .map(({ text }) => text)
    .join('\n');

test.each(AGENTS)('the guide of $name has its address and a command', ({ guide, settings }) => {
  const sh = blocksOf(guide, 'sh');
  expect(sh).toMatch(/\b(codex|claude)\b/);
  expect(settings === undefined ? sh : blocksOf(guide, 'toml')).toContain(DOCUMENTED_URL);
});

for (const { name, guide, packages, settings } of AGENTS)
  fullTest(`${name} calls a tool, with the settings and the command of its guide`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'model-gateway-agent-'));
    const data = await temporaryDataDir();
    const service = await startStandalone(data.path, { SERVICE_ADMIN_TOKEN: ADMIN_TOKEN });
    try {
      await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', ...packages]);
      const { key } = await chatOnce(service.url, EMAIL);
      const plan = { user_email: EMAIL, tier: 'enterprise' };
      await rpcCall(service.url, 'billing.plan.set', plan, ADMIN_TOKEN);
      const textOf = (language: string) =>
        blocksOf(guide, language).replaceAll(DOCUMENTED_URL, service.url);
      const home = join(folder, 'home');
      const work = join(folder, 'work');
      await mkdir(work);
      await writeFile(join(work, SHOWN_FILE), '');
      if (settings !== undefined) {
        await mkdir(join(home, settings, '..'), { recursive: true });
        await writeFile(join(home, settings), textOf('toml'));
      }
      await run('git', ['init', '--quiet', work]);
      const env = {
        PATH: `${join(folder, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
        HOME: home,
        GATEWAY_KEY: key,
      };
      const agent = run('bash', ['-c', textOf('sh')], { cwd: work, env });
      agent.child.stdin?.end();
      const { stdout } = await agent;
      // The demo model repeats what its tool returned.
      expect(stdout).toMatch(new RegExp(`^The tool \\w+ answered: [^]*${SHOWN_FILE}`));
    } finally {
      await service.stop();
      await data.remove();
      await rm(folder, { recursive: true, force: true });
    }
  });
