import { tryParse } from '@model-gateway/kernel';
import { z } from 'zod';

/** Where it is announced that requests were written to the log. */
export const REQUESTS_CHANNEL = 'requests';

const counts = z.record(z.string(), z.int().positive());
const noticeSchema = z.object({ total: z.int().positive(), users: counts, groups: counts });

/** How many requests of whom were written. */
export type RequestNotice = z.output<typeof noticeSchema>;

/** A request as far as a notice is about it. */
interface WrittenRequest {
  readonly userId: string;
  readonly groupId: string | null;
}

/** The text of a notice. */
export function requestNotice(requests: readonly WrittenRequest[]): string {
  const users: Record<string, number> = {};
  const groups: Record<string, number> = {};
  for (const { userId, groupId } of requests) {
    users[userId] = (users[userId] ?? 0) + 1;
    if (groupId !== null) groups[groupId] = (groups[groupId] ?? 0) + 1;
  }
  return JSON.stringify({ total: requests.length, users, groups } satisfies RequestNotice);
}

/** The notice in a message; undefined for anything else. */
export function readRequestNotice(message: string): RequestNotice | undefined {
  return tryParse(noticeSchema, message);
}
