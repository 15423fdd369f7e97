import { z } from 'zod';
import { method } from './method.ts';
import { signedIn } from './records.ts';

const EMAIL_CHARS_MAX = 254;
const PASSWORD_CHARS_MIN = 8;
const PASSWORD_CHARS_MAX = 128;
const NAME_CHARS_MAX = 128;

const email = z.string().trim().toLowerCase().max(EMAIL_CHARS_MAX).pipe(z.email());

export const authMethods = {
  'auth.register': method({
    auth: 'public',
    summary: 'Create an account and sign in; the first account becomes the admin.',
    params: z.object({
      email,
      password: z.string().min(PASSWORD_CHARS_MIN).max(PASSWORD_CHARS_MAX),
      name: z.string().trim().max(NAME_CHARS_MAX).optional(),
    }),
    result: signedIn,
  }),
};
