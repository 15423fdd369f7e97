import type { RpcResult } from '@model-gateway/contracts';
import { keyState, listOf, localTime, previousUntil, settingsOf } from './key-settings.ts';

type Key = RpcResult<'keys.list'>[number];

function formOf(values: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) form.set(name, value);
  return form;
}

const NOW = Date.parse('2026-03-01T00:00:00Z');

const keyWith = (fields: Partial<Key>): Key =>
  ({
    active: true,
    revoked_at: null,
    expires_at: null,
    budget_usd: null,
    budget_used_usd: null,
    ...fields,
  }) as Key;

test('an empty form clears every limit', () => {
  expect(settingsOf(formOf({ budget_period: 'month' }))).toEqual({
    expires_at: null,
    budget_usd: null,
    rpm: null,
    tpm: null,
    models: null,
    addresses: null,
  });
});

test('the fields of a form become limits', () => {
  const end = localTime('2026-05-01T12:30:00Z');
  expect(
    settingsOf(
      formOf({
        expires_at: end,
        budget_usd: '2.5',
        budget_period: 'day',
        rpm: '60',
        tpm: '1000',
        models: 'demo-*, other',
        addresses: '10.0.0.0/8\n192.168.1.1',
      }),
    ),
  ).toEqual({
    expires_at: '2026-05-01T12:30:00.000Z',
    budget_usd: 2.5,
    budget_period: 'day',
    rpm: 60,
    tpm: 1000,
    models: ['demo-*', 'other'],
    addresses: ['10.0.0.0/8', '192.168.1.1'],
  });
});

test.each([
  { text: '', list: null },
  { text: ' , \n', list: null },
  { text: 'a b,c', list: ['a', 'b', 'c'] },
])('the list $text', ({ text, list }) => {
  expect(listOf(text)).toEqual(list);
});

test.each([
  { state: 'active', fields: {} },
  {
    state: 'revoked',
    fields: {
      active: false,
      revoked_at: '2026-02-01T00:00:00Z',
      expires_at: '2026-01-01T00:00:00Z',
    },
  },
  // As the service answers: one that is not accepted is not active.
  { state: 'expired', fields: { active: false, expires_at: '2026-01-01T00:00:00Z' } },
  { state: 'inactive', fields: { active: false, group_id: 'g' } },
  { state: 'active', fields: { expires_at: '2026-09-01T00:00:00Z' } },
  { state: 'exhausted', fields: { budget_usd: 1, budget_used_usd: 1 } },
  { state: 'active', fields: { budget_usd: 1, budget_used_usd: 0.5 } },
])('$fields is $state', ({ state, fields }) => {
  expect(keyState(keyWith(fields), NOW)).toBe(state);
});

const LATER = '2026-04-01T00:00:00Z';

test.each([
  { why: 'a rotated key', fields: { previous_until: LATER }, until: LATER },
  { why: 'one that was never rotated', fields: { previous_until: null }, until: undefined },
  {
    why: 'one whose time is over',
    fields: { previous_until: '2026-02-01T00:00:00Z' },
    until: undefined,
  },
  {
    why: 'one that was revoked since',
    fields: { previous_until: LATER, active: false, revoked_at: '2026-02-01T00:00:00Z' },
    until: undefined,
  },
])('the previous secret of $why works until $until', ({ fields, until }) => {
  expect(previousUntil(keyWith(fields), NOW)).toBe(until);
});
