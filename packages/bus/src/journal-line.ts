import { tryParse, type JournalEntry } from '@model-gateway/kernel';
import { z } from 'zod';

/** A usage event has less than a thousand characters; anything near this is a mistake, and readers load whole entries. */
const JOURNAL_ENTRY_CHARS_MAX = 1024 * 1024;

const entrySchema = z.object({ id: z.string(), body: z.string() });

/** Rejects an entry that is far too large, in every adapter. */
export function requireEntrySize({ id, body }: JournalEntry): void {
  const characters = id.length + body.length;
  if (characters <= JOURNAL_ENTRY_CHARS_MAX) return;
  throw new RangeError(
    `a journal entry of ${characters} characters is over ${JOURNAL_ENTRY_CHARS_MAX}`,
  );
}

/** One entry as one line of text. */
export const encodeJournalLine = ({ id, body }: JournalEntry): string =>
  `${JSON.stringify({ id, body })}\n`;

/** The entry in a line, or undefined for an incomplete line. */
export const decodeJournalLine = (line: string): JournalEntry | undefined =>
  tryParse(entrySchema, line);
