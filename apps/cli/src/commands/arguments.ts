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

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/** Parses a day as its start or its end in UTC; the service checks a time. */
export const timeOf =
  (name: string, dayMeans: 'start-of-day' | 'end-of-day') =>
  (text: string): string => {
    if (!DAY.test(text)) return text;
    const start = Date.parse(text);
    if (Number.isNaN(start)) throw new InvalidArgumentError(`${name} must be a day or a time.`);
    return new Date(dayMeans === 'start-of-day' ? start : start + DAY_MS).toISOString();
  };
