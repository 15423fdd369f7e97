import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prismaFolder } from '../src/migrations/migrations.ts';
import { diffSchemas } from '../tools/diff-schemas.ts';
import { compareCatalogs, readCatalog, type Catalog } from './catalog.ts';
import { createMigratedDatabase, createTestDatabase, type TestDatabase } from './test-database.ts';

// What the migrations say and schema.prisma cannot.
const DELIBERATE = [
  'different: table usage_by_account_day (partitioned / plain)',
  'different: table usage_by_account_hour (partitioned / plain)',
  'different: table usage_by_all_day (partitioned / plain)',
  'different: table usage_by_all_hour (partitioned / plain)',
  'different: table usage_records (partitioned / plain)',
  'only in the first: column messages.bytes',
  'only in the first: constraint api_keys.api_keys_limits_check',
  'only in the first: constraint billing_tiers.billing_tiers_limits_check',
  'only in the first: constraint group_invitations.group_invitations_role_check',
  'only in the first: constraint group_invitations.group_invitations_uses_check',
  'only in the first: constraint group_members.group_members_cost_multiplier_check',
  'only in the first: constraint group_members.group_members_role_check',
  'only in the first: constraint group_model_rules.group_model_rules_rule_check',
  'only in the first: constraint groups.groups_rpm_ceiling_check',
  'only in the first: constraint ledger_accounts.ledger_accounts_balance_check',
  'only in the first: constraint ledger_accounts.ledger_accounts_owner_type_check',
  'only in the first: constraint ledger_entries.ledger_entries_balance_after_check',
  'only in the first: constraint ledger_entries.ledger_entries_delta_check',
  'only in the first: constraint ledger_entries.ledger_entries_idempotency_check',
  'only in the first: constraint ledger_entries.ledger_entries_kind_check',
  'only in the first: constraint memory_events.memory_events_kind_check',
  'only in the first: constraint messages.messages_role_check',
  'only in the first: constraint price_overrides.price_overrides_prices_check',
  'only in the first: constraint price_overrides.price_overrides_source_check',
  'only in the first: constraint request_failures.request_failures_repeats_check',
  'only in the first: constraint request_log_state.request_log_state_id_check',
  'only in the first: constraint usage_records.usage_records_account_type_check',
  'only in the first: constraint usage_records.usage_records_cost_check',
  'only in the first: constraint usage_records.usage_records_points_check',
  'only in the first: constraint usage_records.usage_records_tokens_check',
  'only in the first: constraint video_jobs.video_jobs_cost_check',
  'only in the first: constraint video_jobs.video_jobs_progress_check',
  'only in the first: constraint video_jobs.video_jobs_status_check',
  'only in the first: constraint video_pricing.video_pricing_mode_check',
  'only in the first: constraint video_pricing.video_pricing_prices_check',
  'only in the first: function audit_entries_refuse_change',
  'only in the first: function conversations_release_bytes',
  'only in the first: function ledger_accounts_note_change',
  'only in the first: function ledger_entries_refuse_change',
  'only in the first: function messages_count_bytes',
  'only in the first: function stored_responses_count_bytes',
  'only in the first: function stored_responses_release_bytes',
  'only in the first: function usage_drop_partitions',
  'only in the first: function usage_ensure_partitions',
  'only in the first: index request_details_request_id_idx',
  'only in the first: index request_failures_group_idx',
  'only in the first: index request_failures_request_id_idx',
  'only in the first: index usage_by_account_day_group_idx',
  'only in the first: index usage_by_account_hour_group_idx',
  'only in the first: index usage_by_all_day_group_idx',
  'only in the first: index usage_by_all_hour_group_idx',
  'only in the first: index usage_records_errors_idx',
  'only in the first: index usage_records_group_id_created_at_idx',
  'only in the first: index usage_records_key_id_created_at_idx',
  'only in the first: index usage_records_ref_id_created_at_idx',
  'only in the first: index video_jobs_cancel_pending_idx',
  'only in the first: trigger audit_entries.audit_entries_append_only',
  'only in the first: trigger audit_entries.audit_entries_no_truncate',
  'only in the first: trigger conversations.conversations_bytes_released',
  'only in the first: trigger ledger_accounts.ledger_accounts_noted',
  'only in the first: trigger ledger_entries.ledger_entries_append_only',
  'only in the first: trigger messages.messages_bytes_counted',
  'only in the first: trigger stored_responses.stored_responses_bytes_counted',
  'only in the first: trigger stored_responses.stored_responses_bytes_released',
];

const readSchema = (folder: string): Promise<string> =>
  readFile(join(folder, 'schema.prisma'), 'utf8');

describe('migrations and schema.prisma', () => {
  let migrated: TestDatabase;
  let described: TestDatabase;
  let catalogs: readonly [Catalog, Catalog];

  beforeAll(async () => {
    [migrated, described] = await Promise.all([createMigratedDatabase(), createTestDatabase()]);
    await described.query(await diffSchemas(undefined, await readSchema(prismaFolder())));
    catalogs = [await readCatalog(migrated), await readCatalog(described)];
  });

  afterAll(async () => {
    await Promise.all([migrated.drop(), described.drop()]);
  });

  it('describe the same database, but for what only SQL can say', () => {
    expect(catalogs[0].size).toBeGreaterThan(250);
    expect(compareCatalogs(...catalogs)).toEqual(DELIBERATE);
  });

  it('differ when a column, an index, a foreign key, a default or a type differs', async () => {
    await described.query(`
      ALTER TABLE users DROP COLUMN name;
      ALTER TABLE users ALTER COLUMN email TYPE text;
      ALTER TABLE groups ALTER COLUMN description DROP NOT NULL;
      ALTER TABLE api_keys ALTER COLUMN project DROP DEFAULT;
      ALTER TABLE api_keys DROP CONSTRAINT api_keys_group_id_fkey;
      DROP INDEX usage_records_model_created_at_idx;
      CREATE TABLE extra (id int)`);

    const found = compareCatalogs(catalogs[0], await readCatalog(described));

    expect(found.filter((difference) => !DELIBERATE.includes(difference))).toEqual([
      expect.stringContaining('different: column api_keys.project'),
      expect.stringContaining('different: column groups.description'),
      expect.stringContaining('different: column users.email'),
      expect.stringContaining('only in the first: column users.name'),
      expect.stringContaining('only in the first: constraint api_keys.api_keys_group_id_fkey'),
      expect.stringContaining('only in the first: index usage_records_model_created_at_idx'),
      expect.stringContaining('only in the second: column extra.id'),
      expect.stringContaining('only in the second: table extra'),
    ]);
  });

  it('start the next migration from the schema that the last one described', async () => {
    const folder = prismaFolder();
    const snapshot = await readFile(join(folder, 'migrations', 'snapshot.prisma'), 'utf8');
    expect(await diffSchemas(snapshot, await readSchema(folder))).toContain('empty migration');
  });
});
