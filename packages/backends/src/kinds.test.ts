import { backendKindSchema } from '@model-gateway/contracts';
import type { BackendConfig } from '@model-gateway/router';
import { kindViews } from './admin/kind-views.ts';
import { assertRegistration } from './factory/assert-registration.ts';
import { KINDS } from './kinds.ts';

const OPTIONS: Readonly<Record<string, Partial<BackendConfig>>> = {
  auth_header: { authHeader: 'x-key' },
  api_keys: { apiKeys: ['a', 'b'] },
  dialects: { dialects: ['responses'] },
};

test('a type means one kind', () => {
  const types = KINDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(new Set(types).size).toBe(types.length);
});

test('a form offers encrypted connections first', () => {
  const engine = kindViews().find(({ name }) => name === 'engine');
  expect(engine?.url_prefixes).toEqual(['wss://', 'ws://', 'bridge://']);
});

test.each(kindViews())('what the form of $name offers can be registered', (view) => {
  expect(backendKindSchema.parse(view)).toEqual(view);
  const { name, example_url: url, offered_capabilities: offered, options, capabilities } = view;
  const config: BackendConfig = {
    name,
    type: name,
    url,
    apiKey: 'secret',
    models: view.needs_models ? ['a'] : [],
    capabilities: offered.length === 0 ? null : offered,
  };
  expect(() => assertRegistration(config)).not.toThrow();
  expect(capabilities).toEqual(expect.arrayContaining(offered));
  expect(view.url_prefixes.some((prefix) => url.startsWith(prefix))).toBe(true);
  expect(view.title).not.toMatch(/\.$/);
  // One line, also in the help of the command line.
  expect(view.purpose).toMatch(/^[^'\n]{1,75}\.$/);
  const taken = Object.entries(OPTIONS).flatMap(([option, fields]) =>
    isTaken({ ...config, ...fields }) ? [option] : [],
  );
  expect(taken).toEqual(Object.keys(options.properties));
});

function isTaken(config: BackendConfig): boolean {
  try {
    assertRegistration(config);
    return true;
  } catch {
    return false;
  }
}
