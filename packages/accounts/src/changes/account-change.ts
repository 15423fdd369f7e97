import { tryParse } from '@model-gateway/kernel';
import { z } from 'zod';

/** A change of a key's holder or of its permissions, or the end of a sign-in. */
export type AccountChange =
  | { readonly kind: 'key'; readonly keyId: string }
  | { readonly kind: 'group'; readonly groupId: string }
  | { readonly kind: 'member'; readonly groupId: string; readonly userId: string }
  /** The tier of one user. */
  | { readonly kind: 'user'; readonly userId: string }
  /** All sign-ins of the user have ended, and their keys do not work. */
  | { readonly kind: 'user-deactivated'; readonly userId: string }
  /** The refresh tokens of one sign-in were revoked. */
  | { readonly kind: 'sign-in-ended'; readonly familyId: string }
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
    z.object({ kind: z.literal('user-deactivated'), epoch: z.int(), user_id: z.string() }),
    z.object({ kind: z.literal('sign-in-ended'), epoch: z.int(), family_id: z.string() }),
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
      case 'user-deactivated':
        return { epoch, change: { kind, userId: message.user_id } };
      case 'sign-in-ended':
        return { epoch, change: { kind, familyId: message.family_id } };
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
    case 'user-deactivated':
      return JSON.stringify({ kind: change.kind, epoch, user_id: change.userId });
    case 'sign-in-ended':
      return JSON.stringify({ kind: 'sign-in-ended', epoch, family_id: change.familyId });
    case 'tiers':
      return JSON.stringify({ kind: 'tiers', epoch });
  }
}

/** The change in a message, or undefined if it has none. */
export const decodeChange = (message: string): NumberedChange | undefined =>
  tryParse(messageSchema, message);
