import { silentLog } from '@model-gateway/kernel';
import { createAccountHints } from './account-hints.ts';
import type { AdmissionFacts } from './admission-store.ts';

const STATE = { balance: 5, hasHistory: true, increases: 0, version: 3 };
const POOL = { type: 'group', id: 'g' } as const;
const WALLET = { type: 'user', id: 'u' } as const;

test('the current states of the accounts are published', async () => {
  const learned: AdmissionFacts[] = [];
  const hints = createAccountHints({
    facts: { account: async ({ type }) => ({ ...STATE, balance: type === 'group' ? 1 : 2 }) },
    admission: { updateHints: async (facts) => void learned.push(facts) },
    log: silentLog,
  });
  await hints.refresh([POOL, WALLET]);
  expect(learned).toEqual([
    {
      windows: [],
      accounts: [
        { ...POOL, ...STATE, balance: 1 },
        { ...WALLET, ...STATE, balance: 2 },
      ],
    },
  ]);
});

test.each([
  { what: 'the truth cannot be read', isReadable: false },
  { what: 'nobody listens', isReadable: true },
])('a warning is all that comes of it when $what', async ({ isReadable }) => {
  const warnings: string[] = [];
  const unavailable = () => Promise.reject(new Error('unavailable'));
  const hints = createAccountHints({
    facts: { account: isReadable ? async () => STATE : unavailable },
    admission: { updateHints: unavailable },
    log: { ...silentLog, warn: (_fields: unknown, text: string) => void warnings.push(text) },
  });
  await hints.refresh([POOL]);
  expect(warnings).toEqual(['publishing a balance failed']);
});
