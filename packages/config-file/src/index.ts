export { configJsonSchema } from './config-json-schema.ts';
export {
  createFileEntries,
  type FileEntries,
  type FileMark,
  type SharedFileEntries,
} from './file-entries.ts';
export {
  FILE_ENTRIES_CHANNEL,
  type FileEntryStore,
  type StoredFileEntry,
} from './file-entry-store.ts';
export { plan, planLines, type Plan } from './plan.ts';
export { problemLine, readConfigFile, type ConfigProblem } from './read-config-file.ts';
export {
  ENTRY_NAMES,
  SECTIONS,
  type ConfigEntry,
  type EntryOf,
  type Section,
  type SectionValue,
} from './sections.ts';
