import type { ConfigEntry } from '@model-gateway/config-file';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createConfigMethods({
  checkConfigText,
}: Pick<Services, 'checkConfigText'>): HandlersOf<'config'> {
  return {
    'config.check': async ({ text, variables }) => {
      const { problems, changes } = await checkConfigText(text, variables);
      if (changes === undefined) return { problems: [...problems], plan: null };
      const { added, changed, removed, unchangedCount, reasons } = changes;
      const record = (entry: ConfigEntry) => ({
        section: entry.section,
        name: entry.name,
        reason: reasons.get(entry) ?? null,
      });
      return {
        problems: [],
        plan: {
          added: added.map(record),
          changed: changed.map(record),
          removed: [...removed],
          unchanged: unchangedCount,
        },
      };
    },
  };
}
