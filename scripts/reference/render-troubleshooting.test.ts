import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BACKEND_HELP, ERROR_HELP, RPC_ERROR_CODES } from '../../packages/contracts/src/index.ts';
import { REST_ERRORS } from '../../packages/http/src/index.ts';
import { STARTUP_PROBLEMS } from '../../packages/kernel/src/index.ts';
import { START_PROBLEMS } from '../start-problems.mjs';
import { renderTroubleshooting } from './render-troubleshooting.mjs';

test('the committed page about troubleshooting is the generated one', async () => {
  const text = await readFile(join('scripts', 'reference', 'troubleshooting.txt'), 'utf8');
  const rendered = renderTroubleshooting(text, {
    startProblems: START_PROBLEMS,
    startupProblems: STARTUP_PROBLEMS,
    errors: ERROR_HELP,
    backends: BACKEND_HELP,
    rest: REST_ERRORS,
    rpc: RPC_ERROR_CODES,
  });
  expect(await readFile(join('docs', 'troubleshooting.md'), 'utf8')).toBe(rendered);
  expect(rendered).not.toContain('<!--');
  for (const { remedy } of [...Object.values(STARTUP_PROBLEMS), ...Object.values(START_PROBLEMS)])
    expect(remedy).not.toBe('');
});
