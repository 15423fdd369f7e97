import { InvalidArgumentError } from 'commander';

/** Parses a whole number within bounds. */
export const wholeNumber =
  (name: string, min: number, max: number) =>
  (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`${name} must be a whole number from ${min} to ${max}.`);
  };

/** Parses a number within bounds. */
export const decimalNumber =
  (name: string, min: number, max: number) =>
  (text: string): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`${name} must be a number from ${min} to ${max}.`);
  };

/** Collects the values of an option that may be given more than once. */
export const collected = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];
