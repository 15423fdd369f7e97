import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { infraFolder } from './infra-folder.ts';
import { find, readBase } from './manifest.ts';

interface IngressPath {
  readonly path: string;
  readonly pathType: 'Exact' | 'Prefix';
  readonly backend: { readonly service: { readonly name: string } };
}

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly ports?: readonly string[]; readonly environment?: unknown }>
  >;
}

const text = readFileSync(join(infraFolder, 'nginx', 'model-gateway.conf'), 'utf8');
const compose = parse(readFileSync(join(infraFolder, 'compose.yaml'), 'utf8'), {
  merge: true,
}) as Compose;
const ingress = find(readBase(), 'Ingress', 'model-gateway');
const { rules } = ingress['spec'] as {
  readonly rules: readonly { readonly http: { readonly paths: readonly IngressPath[] } }[];
};
const paths = rules.flatMap(({ http }) => http.paths);

/** Where nginx sends a path: an exact location first, then the first pattern; undefined where it answers 404 itself. */
function portOf(path: string): string | undefined {
  const locations = [
    ...text.matchAll(/location (=|~) (\S+) \{\s+proxy_pass http:\/\/127\.0\.0\.1:(\d+);\s+\}/g),
  ].map(([, kind, place = '', port]) => ({ kind, place, port }));
  expect(locations).toHaveLength(3);
  const exact = locations.find(({ kind, place }) => kind === '=' && place === path);
  return (
    exact ?? locations.find(({ kind, place }) => kind === '~' && new RegExp(place).test(path))
  )?.port;
}

/** The port of this machine at which Compose has an app. */
const publishedPort = (app: string): string | undefined =>
  compose.services[app]?.ports?.[0]?.split(':')[1];

test.each(paths)(
  'nginx leads $path to the same app as the Ingress',
  ({ path, pathType, backend }) => {
    const port = publishedPort(backend.service.name);
    expect(port).toMatch(/^\d+$/);
    expect(portOf(path)).toBe(port);
    expect(portOf(`${path}x`)).toBeUndefined();
    expect(portOf(`${path}/below`)).toBe(pathType === 'Prefix' ? port : undefined);
  },
);

test.each(['/metrics', '/internal/agents', '/api', '/anything'])('%s is not public', (path) => {
  expect(portOf(path)).toBeUndefined();
});

test('nginx has the limits of the Ingress', () => {
  const setting = (name: string): string | undefined =>
    new RegExp(`^\\s+${name} (\\S+);$`, 'm').exec(text)?.[1];
  const annotation = (name: string): string | undefined =>
    ingress.metadata.annotations?.[`nginx.ingress.kubernetes.io/${name}`];
  expect(setting('client_max_body_size')).toBe(annotation('proxy-body-size'));
  for (const name of ['proxy-read-timeout', 'proxy-send-timeout'])
    expect(setting(name.replaceAll('-', '_'))).toBe(`${annotation(name)}s`);
  for (const name of ['proxy-buffering', 'proxy-request-buffering'])
    expect(setting(name.replaceAll('-', '_'))).toBe(annotation(name));
});

test.each(['gateway', 'rpc', 'agent-tunnel'])(
  '%s believes the proxy of its machine about clients',
  (app) => {
    expect(compose.services[app]?.environment).toMatchObject({
      SERVICE_TRUST_PROXY: '${SERVICE_TRUST_PROXY:-loopback, uniquelocal}',
    });
  },
);
