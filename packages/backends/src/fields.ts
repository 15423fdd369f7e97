import { numberOf } from '@model-gateway/kernel';

export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object and no list. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldOf = (value: unknown, name: string): unknown =>
  isFields(value) ? value[name] : undefined;

export function textOf(value: unknown, name: string): string | undefined {
  const field = fieldOf(value, name);
  return typeof field === 'string' ? field : undefined;
}

export function countOf(value: unknown, name: string): number | undefined {
  const field = numberOf(fieldOf(value, name));
  return field !== undefined && Number.isSafeInteger(field) && field >= 0 ? field : undefined;
}

export function listOf(value: unknown, name: string): readonly unknown[] {
  const field = fieldOf(value, name);
  return Array.isArray(field) ? field : [];
}
