import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '@model-gateway/db';
import { generatedSecret } from '@model-gateway/kernel';
import { GUIDE_EMAIL, type FirstSteps } from './banner.ts';

interface FirstStepsOptions {
  readonly users: Pick<Database['users'], 'isEmpty' | 'findOldestAdmin'>;
  readonly dataDir: string;
  readonly registrationOpen: boolean;
  /** Addresses of people are shown to a person only: output may also go to a file or a log. */
  readonly isTerminal: boolean;
}

const PASSWORD_NAME = 'first-password';

/** What a person does first depends on whether there are accounts. */
export async function firstStepsOf({
  users,
  dataDir,
  registrationOpen,
  isTerminal,
}: FirstStepsOptions): Promise<FirstSteps> {
  if (await users.isEmpty()) {
    if (!registrationOpen) return { kind: 'closed' };
    const { file } = await generatedSecret(dataDir, PASSWORD_NAME);
    return { kind: 'register', passwordFile: file };
  }
  const email = (await users.findOldestAdmin())?.email;
  const passwordFile = join(dataDir, 'secrets', PASSWORD_NAME);
  // Registered with the command of the first start, whose password nobody has typed.
  if (email === GUIDE_EMAIL && existsSync(passwordFile))
    return { kind: 'sign-in', email, passwordFile };
  return email === undefined || !isTerminal ? { kind: 'sign-in' } : { kind: 'sign-in', email };
}
