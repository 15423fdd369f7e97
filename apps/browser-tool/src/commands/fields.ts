import type { ActionOutcome, ElementReport } from '../engine.ts';
import type { CommandData } from './command.ts';

/** The element in the result of a command. */
export function elementOf(value: unknown): ElementReport {
  return value as ElementReport;
}

/** The page after an action, with the status of a new document. */
export function actionData(outcome: ActionOutcome): CommandData {
  const { navigated, url, title, status, statusText = '', pendingUrl } = outcome;
  return {
    navigated,
    url,
    title,
    ...(status === undefined ? {} : { status }),
    ...(statusText === '' ? {} : { status_text: statusText }),
    ...(pendingUrl === undefined ? {} : { pending_url: pendingUrl }),
  };
}
