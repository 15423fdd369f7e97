export { awaitMigrations } from './await-migrations.ts';
export {
  databaseSettings,
  databaseUrlSetting,
  encryptionKeySetting,
  migrateSetting,
  optionalDatabaseUrlSetting,
} from './config.ts';
export { createDatabase, type Database, type PoolStats, type Stores } from './database.ts';
export { migrateApart } from './migrate-apart.ts';
export { migrateDatabase } from './migrate.ts';
