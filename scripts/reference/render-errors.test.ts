import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ERROR_HELP, RPC_ERROR_CODES } from '../../packages/contracts/src/index.ts';
import { REST_ERRORS } from '../../packages/http/src/index.ts';
import { renderErrors } from './render-errors.mjs';

test('the committed error reference is the generated one', async () => {
  const written = await readFile(join('docs', 'reference', 'errors.md'), 'utf8');
  expect(written).toBe(renderErrors(ERROR_HELP, REST_ERRORS, RPC_ERROR_CODES));
});
