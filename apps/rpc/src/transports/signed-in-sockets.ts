import type { SignIn, SignInEnd } from '@model-gateway/accounts';

/** Finds the sockets that end with a sign-in or a user. */
export interface SignedInSockets<Socket> {
  add(socket: Socket, signIn: SignIn): void;
  remove(socket: Socket, signIn: SignIn): void;
  of(end: SignInEnd): readonly Socket[];
}

export function createSignedInSockets<Socket>(): SignedInSockets<Socket> {
  const byKey = new Map<string, Set<Socket>>();
  return {
    add(socket, signIn) {
      for (const key of keysOf(signIn)) {
        byKey.set(key, (byKey.get(key) ?? new Set<Socket>()).add(socket));
      }
    },
    remove(socket, signIn) {
      for (const key of keysOf(signIn)) {
        const sockets = byKey.get(key);
        sockets?.delete(socket);
        if (sockets?.size === 0) byKey.delete(key);
      }
    },
    of: (end) => [
      ...(byKey.get(end.kind === 'sign-in-ended' ? familyKey(end.familyId) : userKey(end.userId)) ??
        []),
    ],
  };
}

const userKey = (id: string): string => `user:${id}`;
const familyKey = (id: string): string => `family:${id}`;

const keysOf = ({ userId, familyId }: SignIn): readonly string[] =>
  familyId === undefined ? [userKey(userId)] : [userKey(userId), familyKey(familyId)];
