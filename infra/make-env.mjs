// Writes a new file of settings with new secrets: for compose.yaml, and for the Secret of a cluster.
//   node infra/make-env.mjs infra/.env
// Only its owner can read the file. An existing file is never replaced. `-` prints the settings instead.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';

const SECRET_BYTES = 32;
const OWNER_ONLY = 0o600;
const USAGE = 'Usage: node infra/make-env.mjs <file>, or - to print the settings';

const secret = (encoding = 'base64url') => randomBytes(SECRET_BYTES).toString(encoding);

function settings() {
  const database = secret();
  const redis = secret();
  return [
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
  ].join('\n');
}

function fail(message, status) {
  process.stderr.write(`make-env: ${message}\n`);
  process.exitCode = status;
}

function writeNew(file) {
  try {
    writeFileSync(file, settings(), { flag: 'wx', mode: OWNER_ONLY });
    process.stderr.write(`Wrote ${file}. Only you can read it. Keep a copy in a safe place.\n`);
  } catch (error) {
    const isThere = error.code === 'EEXIST';
    fail(
      isThere
        ? `${file} exists and stays as it is: data stored with its secrets cannot be read without them. Name another file, or move this one away.`
        : error.message,
      1,
    );
  }
}

const [file, ...others] = process.argv.slice(2);
if (file === undefined || others.length > 0) fail(USAGE, 2);
else if (file === '-') process.stdout.write(settings());
else writeNew(file);
