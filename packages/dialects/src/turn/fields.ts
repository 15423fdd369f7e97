import { numberOf } from '@model-gateway/kernel';

/** A field of any value. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

export function textField(value: unknown, name: string): string | undefined {
  const field = fieldOf(value, name);
  return typeof field === 'string' ? field : undefined;
}

export function countField(value: unknown, name: string): number | undefined {
  const field = numberOf(fieldOf(value, name));
  return field !== undefined && Number.isSafeInteger(field) && field >= 0 ? field : undefined;
}

/** A number that is passed on as it was written. */
export function numberField(value: unknown, name: string): number | undefined {
  const field = fieldOf(value, name);
  return numberOf(field) === undefined ? undefined : (field as number);
}

export function listField(value: unknown, name: string): readonly unknown[] {
  const field = fieldOf(value, name);
  return Array.isArray(field) ? field : [];
}

/** The fields that are not undefined. */
export function present<Fields extends object>(fields: Fields): Partial<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Fields>;
}
