import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { checkConfigFile } from '@model-gateway/config-file';
import { createDatabase } from '@model-gateway/db';
import { embeddedPostgresUrl } from '@model-gateway/embedded';
import { createEntryRules } from '@model-gateway/service';
import { describeError, silentLog } from '@model-gateway/kernel';
import { secretOrGenerated } from '@model-gateway/server-process';
import { readCheckConfig, readStandaloneConfig } from './config.ts';

// Behind `pnpm gateway config:check`. With `--plan` it reads the database of DATABASE_URL, or that of a running `npm start`.
const { variables, invokedFrom, webhookAllowPrivate } = readCheckConfig();
const args = process.argv
  .slice(2)
  .map((arg) => (arg.startsWith('-') ? arg : resolve(invokedFrom, arg)));

try {
  process.exitCode = await checkConfigFile(args, {
    environment: variables,
    rules: createEntryRules({ webhookAllowPrivate }),
    readText: (path) => readFile(path, 'utf8'),
    print: (text) => void process.stdout.write(text),
    async withStores(work) {
      const { databaseUrl, dataDir, encryptionKey: configured } = readStandaloneConfig();
      // A running `npm start` has its address and its key in the data directory.
      const isEmbedded = databaseUrl === undefined;
      const url = isEmbedded ? await embeddedPostgresUrl(dataDir) : databaseUrl;
      const encryptionKey = isEmbedded
        ? await secretOrGenerated(configured, dataDir, 'encryption-key')
        : configured;
      const database = createDatabase({ databaseUrl: url, encryptionKey, log: silentLog });
      try {
        return await work(database, { canReadKeys: encryptionKey !== undefined });
      } finally {
        await database.close();
      }
    },
  });
} catch (error) {
  process.stderr.write(`config:check: ${describeError(error)}\n`);
  process.exitCode = 1;
}
