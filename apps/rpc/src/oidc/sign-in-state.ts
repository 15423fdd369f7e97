import type { Clock } from '@model-gateway/kernel';
import { z } from 'zod';
import { createSealedText, type SealedText } from './sealed-text.ts';

/** How long a user may take to sign in at the provider, and then to give the password of an account. */
export const SIGN_IN_STEP_SECS_MAX = 600;

/** A sign-in that a browser has begun and the provider has not answered yet. */
const pendingSignIn = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  /** Where the browser goes afterwards. */
  returnTo: z.string(),
});

/** A person whom the provider has identified, and who has not given the password of the account with this email yet. */
const pendingLink = z.object({
  identity: z.object({
    person: z.object({ issuer: z.string(), subject: z.string() }),
    email: z.string(),
    name: z.string(),
    isAdmin: z.boolean(),
  }),
  returnTo: z.string(),
});

interface SignInStateOptions {
  readonly secret: string;
  readonly clock: Clock;
}

/** What browsers keep between the steps of a sign-in. */
export interface SignInState {
  readonly signIns: SealedText<z.output<typeof pendingSignIn>>;
  readonly links: SealedText<z.output<typeof pendingLink>>;
}

export function createSignInState(options: SignInStateOptions): SignInState {
  const ttlSecs = SIGN_IN_STEP_SECS_MAX;
  return {
    signIns: createSealedText({
      ...options,
      ttlSecs,
      purpose: 'pending OIDC sign-ins',
      schema: pendingSignIn,
    }),
    links: createSealedText({
      ...options,
      ttlSecs,
      purpose: 'pending OIDC links',
      schema: pendingLink,
    }),
  };
}
