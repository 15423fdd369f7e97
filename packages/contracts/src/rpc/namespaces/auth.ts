import { z } from 'zod';
import { method } from '../method.ts';
import { done, email, isAscii, password, record, text, userRecord } from './records.ts';

const NAME_CHARS_MAX = 128;

const signedIn = record('SignedIn', {
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  user: userRecord,
});

export const authMethods = {
  'auth.register': method({
    auth: 'public',
    summary: 'Create an account and sign in; the first account becomes the admin.',
    params: z.object({
      email,
      password,
      name: text(NAME_CHARS_MAX).optional(),
    }),
    result: signedIn,
    hasSecretResult: true,
  }),
  'auth.login': method({
    auth: 'public',
    summary: 'Sign in.',
    params: z.object({
      // No email is refused here, so that an unknown and an invalid one get the same response.
      email: z
        .string()
        .trim()
        .overwrite((value) => (isAscii(value) ? value.toLowerCase() : value)),
      password: z.string(),
    }),
    result: signedIn,
    hasSecretResult: true,
  }),
  'auth.refresh': method({
    auth: 'public',
    summary:
      'Exchange a refresh token, which works once, for a new access token and refresh token.',
    // Whatever is no live token gets the same error, of whatever length.
    params: z.object({ refresh_token: z.string() }),
    result: signedIn,
    hasSecretResult: true,
  }),
  'auth.logout': method({
    auth: 'jwt',
    summary:
      'End this sign-in: its tokens stop working and its sockets are closed, in every process.',
    params: z.object({}),
    result: done,
    isExtension: true,
  }),
  'auth.password.change': method({
    auth: 'jwt',
    summary: 'Change your password; all other sign-ins of yours end.',
    params: z.object({ current: z.string(), next: password }),
    result: done,
    isExtension: true,
  }),
  'auth.password.reset': method({
    auth: 'public',
    summary: 'Set a new password with the token of a reset link; all sign-ins of the user end.',
    // Whatever is no live token gets the same error, of whatever length.
    params: z.object({ token: z.string(), password }),
    result: done,
    isExtension: true,
  }),
  'auth.me': method({
    auth: 'jwt',
    summary: 'Your account.',
    params: z.object({}),
    result: userRecord,
  }),
};
