export { awaitMigrations } from './migrations/await-migrations.ts';
export {
  databaseSettings,
  databaseUrlSetting,
  encryptionKeySetting,
  migrateSetting,
  optionalDatabaseUrlSetting,
} from './config.ts';
export { createDatabase, type Database, type PoolStats, type Stores } from './database.ts';
export { migrateApart } from './migrations/migrate-apart.ts';
export { migrateDatabase } from './migrations/migrate.ts';
