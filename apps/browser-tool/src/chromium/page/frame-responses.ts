import { withTimeout } from '@model-gateway/kernel';
import type { Frame } from './frames.ts';
import type { Page } from './page.ts';

const ANSWER_TIMEOUT_MS = 2_000;
/** For a frame that has not answered before. */
const LATE_ANSWER_TIMEOUT_MS = 100;

// By page, the questions that sessions have not answered.
const unanswered = new WeakMap<Page, Map<string, Promise<true>>>();

/**
 * Whether scripts run in a frame. A frame of another site has its own process: a script in it that does not end must not stop
 * commands for the rest of the page.
 */
export async function respondsToScripts(page: Page, { sessionId }: Frame): Promise<boolean> {
  if (sessionId === page.sessionId) return true;
  const questions = unanswered.get(page) ?? new Map<string, Promise<true>>();
  unanswered.set(page, questions);
  const earlier = questions.get(sessionId);
  const question = earlier ?? ask(page, sessionId).finally(() => questions.delete(sessionId));
  questions.set(sessionId, question);
  const timeoutMs = earlier === undefined ? ANSWER_TIMEOUT_MS : LATE_ANSWER_TIMEOUT_MS;
  return withTimeout(question, timeoutMs, () => false);
}

/** A frame that is gone answers with an error; the command itself handles that. */
async function ask(page: Page, sessionId: string): Promise<true> {
  await page.send('Runtime.evaluate', { expression: '0' }, sessionId).catch(() => undefined);
  return true;
}
