/** The credentials of both APIs; each is a bearer token. */
export const SECURITY_SCHEMES = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `service-<uuid>`.' },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The access token of a user, from `auth.login` or `auth.register`.',
  },
  adminToken: { type: 'http', scheme: 'bearer', description: 'The admin token.' },
} as const;
