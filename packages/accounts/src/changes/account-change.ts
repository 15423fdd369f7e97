import { tryParse } from '@model-gateway/kernel';
import { z } from 'zod';

/** A change of a key's holder or of its permissions. */
export type AccountChange =
  | { readonly kind: 'key'; readonly keyId: string }
  | { readonly kind: 'group'; readonly groupId: string }
  | { readonly kind: 'member'; readonly groupId: string; readonly userId: string }
  /** The tier of one user. */
  | { readonly kind: 'user'; readonly userId: string }
  /** The limits of a tier: may affect all users. */
  | { readonly kind: 'tiers' };

/** A change and its sequence number. */
export interface NumberedChange {
  readonly epoch: number;
  readonly change: AccountChange;
}

/** The channel for changes. */
export const ACCOUNTS_CHANNEL = 'accounts';

/** The counter of changes. */
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

/** A change as a message. */
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

/** The change in a message, or undefined if it has none. */
export const decodeChange = (message: string): NumberedChange | undefined =>
  tryParse(messageSchema, message);
