import type { Section } from './sections.ts';

/** What is stored of an entry that came from the configuration file. */
export interface StoredFileEntry {
  readonly section: Section;
  readonly name: string;
  readonly hash: string;
  /** Of aliases, which have no other store: the target. */
  readonly target: string | null;
  /** When it was first applied. */
  readonly createdAt: Date;
}

/** Stores which parts of the configuration came from the file. */
export interface FileEntryStore {
  /** Until the end of the transaction no other one applies a file. */
  hold(): Promise<void>;
  /** By section and name. */
  list(): Promise<readonly StoredFileEntry[]>;
  has(section: Section, name: string): Promise<boolean>;
  put(entry: Omit<StoredFileEntry, 'createdAt'>): Promise<void>;
  remove(section: Section, name: string): Promise<void>;
}

/** The channel for applied files. */
export const FILE_ENTRIES_CHANNEL = 'file-entries';
