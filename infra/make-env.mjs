// Prints a file of settings with new secrets: for compose.yaml, and for the Secret of a cluster.
//   node infra/make-env.mjs > infra/.env
import { randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
const secret = (encoding = 'base64url') => randomBytes(SECRET_BYTES).toString(encoding);
const database = secret();
const redis = secret();

process.stdout.write(
  [
    '# Keep this file: stored data cannot be read without these secrets.',
    `POSTGRES_PASSWORD=${database}`,
    `REDIS_PASSWORD=${redis}`,
    `DATABASE_URL=postgresql://model_gateway:${database}@postgres:5432/model_gateway`,
    `REDIS_URL=redis://:${redis}@redis:6379`,
    `SERVICE_JWT_SECRET=${secret()}`,
    `SERVICE_ENCRYPTION_KEY=${secret('base64')}`,
    `SERVICE_ADMIN_TOKEN=${secret()}`,
    `BROWSER_TOKEN=${secret()}`,
    '',
  ].join('\n'),
);
