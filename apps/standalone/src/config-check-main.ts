import { resolve } from 'node:path';
import { createDatabase } from '@model-gateway/db';
import { embeddedPostgresUrl } from '@model-gateway/embedded';
import { checkConfigFile } from '@model-gateway/inference-runtime';
import { describeError, silentLog } from '@model-gateway/kernel';
import { readCheckConfig, readStandaloneConfig } from './config.ts';

// Behind `pnpm config:check`. With `--plan` it reads the database of DATABASE_URL, or that of a running `npm start`.
const { variables, invokedFrom } = readCheckConfig();
const args = process.argv
  .slice(2)
  .map((arg) => (arg.startsWith('-') ? arg : resolve(invokedFrom, arg)));

try {
  process.exitCode = await checkConfigFile(args, {
    environment: variables,
    print: (text) => void process.stdout.write(text),
    async withStore(work) {
      const { databaseUrl, dataDir } = readStandaloneConfig();
      const database = createDatabase({
        databaseUrl: databaseUrl ?? (await embeddedPostgresUrl(dataDir)),
        log: silentLog,
      });
      try {
        return await work(database.fileEntries);
      } finally {
        await database.close();
      }
    },
  });
} catch (error) {
  process.stderr.write(`config:check: ${describeError(error)}\n`);
  process.exitCode = 1;
}
