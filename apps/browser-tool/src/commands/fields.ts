import { z } from 'zod';
import type { ActionOutcome, ElementReport } from '../engine.ts';
import type { CommandData } from './command.ts';

/** How long to wait until an element is ready. */
export const TIMEOUT_MS = 5_000;

const TIMEOUT_MS_MAX = 600_000;
const TEXT_CHARS_MAX = 500_000;

/** Parameters that several commands share. */
export const fields = {
  target: z.string().min(1),
  element: z.string().optional(),
  timeoutMs: (fallback: number) => z.int().min(0).max(TIMEOUT_MS_MAX).default(fallback),
  text: z.string().max(TEXT_CHARS_MAX),
  dialog: z.enum(['accept', 'dismiss']).optional(),
  promptText: z.string().optional(),
  waitUntil: z.enum(['commit', 'domcontentloaded', 'load', 'networkidle']).default('load'),
  includeSnapshot: z.boolean().default(false),
} as const;

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
