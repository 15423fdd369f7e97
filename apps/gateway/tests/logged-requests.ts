import type { LoggedRequest } from '@model-gateway/billing';
import { failedRequestsSchema } from '@model-gateway/contracts';
import { waitUntil, type TestContext } from '@model-gateway/testkit';

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

/** The request that a response belongs to, once it is written. */
export async function loggedRequest(
  context: TestContext['context'],
  response: Response,
): Promise<LoggedRequest> {
  await response.text();
  return loggedAs(context, response.headers.get('x-request-id'));
}

/** The failed request with an id, once it is written; writes down what has failed, as the recorder does. */
export async function loggedAs(
  { bus, database }: TestContext['context'],
  id: string | null,
): Promise<LoggedRequest> {
  const requestId = id ?? '';
  let found: LoggedRequest | undefined;
  const enough = new AbortController();
  const drained = bus.journal.drain(
    async (batch) => {
      const failures = batch.flatMap(({ body }) => {
        const content = failedRequestsSchema.safeParse(JSON.parse(body));
        return content.success ? content.data.failures : [];
      });
      await database.usage.record([], { pointsPerUsd: 1, failures });
    },
    { batchSize: 100, signal: enough.signal },
  );
  await waitUntil(async () => {
    [found] = (await database.requestLog.list({ requestId }, { limit: 1 })).requests;
    return found !== undefined;
  });
  enough.abort();
  await drained;
  if (found === undefined) throw new Error('not logged');
  return found;
}
