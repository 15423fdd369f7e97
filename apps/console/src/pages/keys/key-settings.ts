import type { RpcInput, RpcResult } from '@model-gateway/contracts';
import { formText, trimmedText } from '../../ui/form-text.ts';

type Settings = Pick<
  RpcInput<'keys.update'>,
  'expires_at' | 'budget_usd' | 'budget_period' | 'rpm' | 'tpm' | 'models' | 'addresses'
>;

type Key = RpcResult<'keys.list'>[number];

/** A limit of a form: null where the field is empty, NaN where it is no number, which the service refuses. */
const numberOf = (form: FormData, name: string): number | null => {
  const text = trimmedText(form, name);
  return text === '' ? null : Number(text);
};

/** Entries between commas, spaces and line ends; null where there are none. */
export function listOf(text: string): string[] | null {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  return entries.length === 0 ? null : entries;
}

/** The limits of a form of a key; an empty field means none. */
export function settingsOf(form: FormData): Settings {
  const end = trimmedText(form, 'expires_at');
  const budget = numberOf(form, 'budget_usd');
  const period = formText(form, 'budget_period');
  return {
    expires_at: end === '' ? null : new Date(end).toISOString(),
    budget_usd: budget,
    ...(budget === null || period === ''
      ? {}
      : { budget_period: period as NonNullable<Settings['budget_period']> }),
    rpm: numberOf(form, 'rpm'),
    tpm: numberOf(form, 'tpm'),
    models: listOf(formText(form, 'models')),
    addresses: listOf(formText(form, 'addresses')),
  };
}

/** Whether a key works, and why not. */
export function keyState(
  { active, revoked_at: revoked, expires_at: end, budget_usd: budget, budget_used_usd: used }: Key,
  now: number,
): 'active' | 'revoked' | 'expired' | 'inactive' | 'exhausted' {
  if (revoked !== null) return 'revoked';
  if (end !== null && Date.parse(end) <= now) return 'expired';
  if (!active) return 'inactive';
  return budget !== null && used !== null && used >= budget ? 'exhausted' : 'active';
}

/** Until when the secret before the last rotation works too; undefined where it does not. */
export function previousUntil(key: Key, now: number): string | undefined {
  const isAccepted = ['active', 'exhausted'].includes(keyState(key, now));
  const end = key.previous_until;
  return isAccepted && end !== null && Date.parse(end) > now ? end : undefined;
}

/** In the form of an input, in the zone of the viewer. */
export function localTime(time: string): string {
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
