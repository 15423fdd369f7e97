import { generatedSecret, optional, setting, text, type Log } from '@model-gateway/kernel';
import { z } from 'zod';

const JWT_SECRET_BYTES_MIN = 32;
const ADMIN_TOKEN_CHARS_MIN = 16;

/** The secret behind access tokens, for the apps that sign or check them. */
export const tokenSettings = {
  jwtSecret: setting(
    'SERVICE_JWT_SECRET',
    optional(
      z
        .string()
        .refine(
          (value) => Buffer.byteLength(value) >= JWT_SECRET_BYTES_MIN,
          `at least ${JWT_SECRET_BYTES_MIN} bytes long`,
        ),
    ),
    {
      description: 'Signs access tokens (HS256); at least 32 bytes, the same for every process.',
      defaultText: 'required in production, else generated into the data directory',
      secret: true,
      requiredInProduction: true,
    },
  ),
};

/** The credential of operators, for the apps that have surfaces of theirs. */
export const adminSettings = {
  adminToken: setting('SERVICE_ADMIN_TOKEN', optional(text()), {
    description:
      'The bearer of `/api/admin/*` and of admin-token methods; unset denies them all. Below 16 characters it is refused in production.',
    defaultText: 'unset; standalone generates one into the data directory',
    secret: true,
    minLengthInProduction: ADMIN_TOKEN_CHARS_MIN,
  }),
};

/** Logs that a configured admin token can be guessed. */
export function warnOfShortAdminToken(adminToken: string | undefined, log: Log): void {
  if (adminToken === undefined || adminToken.length >= ADMIN_TOKEN_CHARS_MIN) return;
  log.warn(
    {},
    `SERVICE_ADMIN_TOKEN has fewer than ${ADMIN_TOKEN_CHARS_MIN} characters and can be guessed; set a longer one`,
  );
}

/** A secret from the configuration, or else the one that the processes of this data directory share. */
export async function secretOrGenerated(
  configured: string | undefined,
  dataDir: string,
  name: 'jwt-secret' | 'encryption-key',
): Promise<string> {
  return configured ?? (await generatedSecret(dataDir, name)).value;
}
