import { tryParse } from '@model-gateway/kernel';
import { z } from 'zod';

/** What changed about whom a key speaks for, or about what it may do. */
export type AccountChange =
  | { readonly kind: 'key'; readonly keyId: string }
  | { readonly kind: 'group'; readonly groupId: string }
  | { readonly kind: 'member'; readonly groupId: string; readonly userId: string }
  /** The tier of one user. */
  | { readonly kind: 'user'; readonly userId: string }
  /** What a tier allows: it may concern everybody. */
  | { readonly kind: 'tiers' };

/** A change and the number that it has among all changes. */
export interface NumberedChange {
  readonly epoch: number;
  readonly change: AccountChange;
}

/** Where changes are announced. */
export const ACCOUNTS_CHANNEL = 'accounts';

/** The counter that says how many changes there have been. */
export const ACCOUNT_EPOCH_KEY = 'accounts-epoch';

const messageSchema = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('key'), epoch: z.int(), key_id: z.string() }),
    z.object({ kind: z.literal('group'), epoch: z.int(), group_id: z.string() }),
    z.object({
      kind: z.literal('member'),
      epoch: z.int(),
      group_id: z.string(),
      user_id: z.string(),
    }),
    z.object({ kind: z.literal('user'), epoch: z.int(), user_id: z.string() }),
    z.object({ kind: z.literal('tiers'), epoch: z.int() }),
  ])
  .transform((message): NumberedChange => {
    const { epoch, kind } = message;
    switch (kind) {
      case 'key':
        return { epoch, change: { kind, keyId: message.key_id } };
      case 'group':
        return { epoch, change: { kind, groupId: message.group_id } };
      case 'member':
        return { epoch, change: { kind, groupId: message.group_id, userId: message.user_id } };
      case 'user':
        return { epoch, change: { kind, userId: message.user_id } };
      case 'tiers':
        return { epoch, change: { kind } };
    }
  });

/** A change as it is announced. */
export function encodeChange({ epoch, change }: NumberedChange): string {
  switch (change.kind) {
    case 'key':
      return JSON.stringify({ kind: 'key', epoch, key_id: change.keyId });
    case 'group':
      return JSON.stringify({ kind: 'group', epoch, group_id: change.groupId });
    case 'member':
      return JSON.stringify({
        kind: 'member',
        epoch,
        group_id: change.groupId,
        user_id: change.userId,
      });
    case 'user':
      return JSON.stringify({ kind: 'user', epoch, user_id: change.userId });
    case 'tiers':
      return JSON.stringify({ kind: 'tiers', epoch });
  }
}

/** The change that a message announces, or undefined when it announces none. */
export const decodeChange = (message: string): NumberedChange | undefined =>
  tryParse(messageSchema, message);
