export { readFileVariables } from './config.ts';
export { configJsonSchema } from './config-json-schema.ts';
export { createFileEntries, type FileEntries } from './file-entries.ts';
export { FILE_ENTRIES_CHANNEL, type FileEntryStore } from './file-entry-store.ts';
export { plan, planLines, type ConfigChanges, type Installed } from './plan.ts';
export {
  problemLine,
  readConfigFile,
  WrongField,
  type ConfigProblem,
  type ValidConfig,
  type WrongEntry,
} from './read-config-file.ts';
export {
  ENTRY_NAMES,
  SECTIONS,
  type ConfigEntry,
  type Section,
  type SectionValue,
} from './sections.ts';
