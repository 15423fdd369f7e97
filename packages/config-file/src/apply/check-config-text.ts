import type { Environment } from '@model-gateway/kernel';
import type { ConfigChanges } from '../plan.ts';
import { readConfigFile, type ConfigProblem } from '../read-config-file.ts';
import { planEntries } from './apply-entries.ts';
import { createCheckEntry } from './check-entry.ts';
import type { EntryRules } from './entry-rules.ts';
import type { ConfiguredStores } from './configured-stores.ts';
import { problemsIn } from './wrong-entries.ts';

/** What is wrong with the text of a file, or what applying it would change. */
export interface CheckedText {
  readonly problems: readonly ConfigProblem[];
  /** Undefined for a file that is wrong. */
  readonly changes: ConfigChanges | undefined;
}

/** Checks a file that is not on this machine, with the variables of its owner. */
export const createCheckConfigText =
  (rules: EntryRules, stores: ConfiguredStores) =>
  async (text: string, variables: Environment): Promise<CheckedText> => {
    const check = createCheckEntry(rules);
    const read = readConfigFile(text, { environment: variables, check });
    if (read.problems !== undefined) return { problems: read.problems, changes: undefined };
    try {
      const changes = await planEntries(stores, read.entries, { ...rules, canReadKeys: true });
      return { problems: [], changes };
    } catch (error) {
      return { problems: problemsIn(read, error), changes: undefined };
    }
  };
