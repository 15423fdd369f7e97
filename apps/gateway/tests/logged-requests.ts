import type { LoggedRequest } from '@model-gateway/billing';
import { recordWhile, waitUntil, type TestContext } from '@model-gateway/testkit';

const messages = [{ role: 'user', content: 'Hi' }];

/** Requests that are refused before a backend is asked, and the code of each. */
export const REFUSED_REQUESTS = [
  { path: 'chat/completions', body: { model: 'none', messages }, code: 'model_not_found' },
  { path: 'chat/completions', body: { messages }, code: 'missing_fields' },
  { path: 'messages', body: { model: 'none', messages, max_tokens: 5 }, code: 'model_not_found' },
  { path: 'responses', body: { model: 'none', input: 'Hi' }, code: 'model_not_found' },
  { path: 'embeddings', body: { model: 'none', input: 'Hi' }, code: 'model_not_found' },
  { path: 'completions', body: { model: 'none', prompt: 'Hi' }, code: 'model_not_found' },
  { path: 'video/generations', body: { model: 'none' }, code: 'missing_fields' },
];

type Context = TestContext['context'];

/** The request that a response belongs to, once it is recorded. */
export async function loggedRequest(context: Context, response: Response): Promise<LoggedRequest> {
  await response.text();
  return loggedAs(context, response.headers.get('x-request-id'));
}

/** The request with an id, once it is recorded with what is in the journal. */
export async function loggedAs(context: Context, id: string | null): Promise<LoggedRequest> {
  const requestId = id ?? '';
  let found: LoggedRequest | undefined;
  await recordWhile(context, () =>
    waitUntil(async () => {
      [found] = (await context.database.requestLog.list({ requestId }, { limit: 1 })).requests;
      return found !== undefined;
    }),
  );
  if (found === undefined) throw new Error('not logged');
  return found;
}
