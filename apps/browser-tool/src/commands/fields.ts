import { z } from 'zod';
import type { ActionOutcome, ElementReport } from '../engine.ts';
import type { CommandData } from './command.ts';

/** How long an element may take until it can be acted upon. */
export const TIMEOUT_MS = 5_000;

const TIMEOUT_MS_MAX = 600_000;
const TEXT_CHARS_MAX = 500_000;

/** Parameters that several commands have. */
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

/** The element in an answer of ours. */
export function elementOf(value: unknown): ElementReport {
  return value as ElementReport;
}

/** Where an action left the page, with the status of the document that it led to. */
export function actionData(outcome: ActionOutcome): CommandData {
  const { navigated, url, title, status, statusText = '' } = outcome;
  return {
    navigated,
    url,
    title,
    ...(status === undefined ? {} : { status }),
    ...(statusText === '' ? {} : { status_text: statusText }),
  };
}
