import { readPreference, writePreference } from '../../preferences/preferences.ts';

const KEY = 'console-model';

/** The model that was last chosen in this browser. */
export const storedModel = (): string | undefined => readPreference(KEY) ?? undefined;

export const storeModel = (model: string): void => writePreference(KEY, model);
