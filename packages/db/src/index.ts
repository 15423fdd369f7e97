export { awaitMigrations } from './migrations/await-migrations.ts';
export {
  databaseSettings,
  encryptionKeySetting,
  migrateSetting,
  optionalDatabaseUrlSetting,
  readUrlSetting,
} from './config.ts';
export { createDatabase, type Database, type DatabaseStores } from './database.ts';
export { migrateDatabase } from './migrations/migrate.ts';
