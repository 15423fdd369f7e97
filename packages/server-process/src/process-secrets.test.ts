import { loadConfig, silentLog } from '@model-gateway/kernel';
import { adminSettings, warnOfShortAdminToken } from './process-secrets.ts';

const SHORT = 'a'.repeat(15);
const LONG = 'a'.repeat(16);

function warnings(adminToken: string | undefined): readonly string[] {
  const texts: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, text: string) => void texts.push(text) };
  warnOfShortAdminToken(adminToken, log);
  return texts;
}

test('an admin token of 15 characters does not start in production, one of 16 does', () => {
  const read = (token: string, environment: string) =>
    loadConfig(adminSettings, { SERVICE_ADMIN_TOKEN: token, NODE_ENV: environment }).adminToken;
  expect(() => read(SHORT, 'production')).toThrow(
    'SERVICE_ADMIN_TOKEN must have at least 16 characters when NODE_ENV=production',
  );
  expect(read(LONG, 'production')).toBe(LONG);
  expect(read(SHORT, 'development')).toBe(SHORT);
});

test('an admin token of 15 characters is warned about, one of 16 and none are not', () => {
  expect(warnings(SHORT)).toEqual([
    'SERVICE_ADMIN_TOKEN has fewer than 16 characters and can be guessed; set a longer one',
  ]);
  expect([...warnings(LONG), ...warnings(undefined)]).toEqual([]);
});
