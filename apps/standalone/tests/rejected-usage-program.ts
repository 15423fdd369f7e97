import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '@model-gateway/db';
import { newId, silentLog } from '@model-gateway/kernel';
import { usageEvent } from '@model-gateway/testkit';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs the built program of an app to its end. */
export function runRejectedUsage(
  app: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly output: string }> {
  const program = `apps/${app}/dist/rejected-usage-main.js`;
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env['PATH'] ?? '', ...env }, cwd: root };
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

/** Stores an event that could not be metered; returns its id. */
export async function rejectUsage(databaseUrl: string): Promise<string> {
  const database = createDatabase({ databaseUrl, log: silentLog });
  const event = usageEvent(newId());
  await database.rejectedUsage.add({ id: event.id, event: JSON.stringify(event), error: 'no' });
  await database.close();
  return event.id;
}
