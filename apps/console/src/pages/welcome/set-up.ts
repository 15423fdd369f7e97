import {
  readPreference,
  removePreference,
  writePreference,
} from '../../preferences/preferences.ts';

/** The steps of the setup; the last one is the first chat. */
export const STEPS = ['account', 'models', 'key', 'chat'] as const;
export type StepName = (typeof STEPS)[number];

const KEY = 'console-set-up';

/** Where the setup of the installation was left in this browser; undefined if none was begun, or it was finished. */
export function storedStep(): StepName | undefined {
  const stored = readPreference(KEY);
  return STEPS.find((step) => step === stored);
}

export const storeStep = (step: StepName): void => writePreference(KEY, step);

export const finishSetUp = (): void => removePreference(KEY);

/** The step after another one; the last one stays. */
export const stepAfter = (step: StepName): StepName => STEPS[STEPS.indexOf(step) + 1] ?? 'chat';

/** Whether a step comes before another one. */
export const isBefore = (step: StepName, other: StepName): boolean =>
  STEPS.indexOf(step) < STEPS.indexOf(other);
