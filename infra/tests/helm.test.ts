import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { infraFolder } from './infra-folder.ts';
import { schemaProblems } from './kubernetes-schema.ts';
import { find, readBase, type Manifest } from './manifest.ts';
import { describeWith, lintChart, renderChart } from './programs.ts';

const TAG = '1.2.3';
const stores = { cidrs: ['10.1.0.0/16'] };
const ALL_OPTIONS = {
  publicUrl: 'https://gateway.example.com',
  ingress: { host: 'gateway.example.com', tlsSecretName: 'tls' },
  autoscaling: { customMetrics: true },
  settings: {
    SERVICE_LOG_BODIES: 1,
    SERVICE_OIDC_ISSUER: 'https://id.example.com/"x"',
    SERVICE_REFRESH_TOKEN_TTL_SECS: 2_592_000,
    SERVICE_REGISTRATION_OPEN: false,
  },
  stores,
};
/** Names that the base has without the release in front. */
const OWN_NAMES =
  /"model-gateway-((?:allow-|default-)[\w-]+|gateway|rpc|agent-tunnel|video-worker|browser-tool|migrate)"/g;
const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

/** Without what only one of both has: names and labels of the release, versions, hooks, and the hashes that restart pods. */
function comparable(manifest: Manifest): Manifest {
  const { metadata, ...others } = JSON.parse(
    JSON.stringify(manifest)
      .replaceAll(`:${TAG}"`, '"')
      .replaceAll(/,"model-gateway\/(?:config|settings)":"\w+"/g, '')
      .replaceAll(/,?"app\.kubernetes\.io\/(?:part-of|instance|managed-by)":"[\w-]+"/g, '')
      .replaceAll('"matchLabels":{},', '')
      .replaceAll(':{"matchLabels":{}}', ':{}')
      .replaceAll(OWN_NAMES, '"$1"'),
  ) as Manifest;
  const { annotations = {}, labels = {}, ...named } = metadata;
  const kept = Object.entries(annotations).filter(([name]) => !name.startsWith('helm.sh/'));
  return { ...others, metadata: { ...named, labels, annotations: Object.fromEntries(kept) } };
}

const byName = (manifests: readonly Manifest[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    manifests
      .filter(({ kind }) => kind !== 'Namespace' && kind !== 'ConfigMap')
      .map(comparable)
      .map((manifest) => [nameOf(manifest), manifest]),
  );

const deploymentOf = (manifests: readonly Manifest[], app: string): Manifest =>
  find(manifests, 'Deployment', `model-gateway-${app}`);

const configOf = (manifests: readonly Manifest[]): unknown => {
  const { data } = find(manifests, 'ConfigMap', 'model-gateway-config') as Manifest & {
    readonly data: Readonly<Record<string, string>>;
  };
  return parse(data['service.yaml'] ?? '');
};

describeWith('helm', () => {
  let rendered: readonly Manifest[];
  let everything: readonly Manifest[];

  beforeAll(() => {
    rendered = renderChart({ image: { tag: TAG }, stores });
    everything = renderChart(ALL_OPTIONS);
  });

  test('the linter has nothing against the chart', () => {
    expect(lintChart(ALL_OPTIONS)).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  test('the chart installs the same objects as the Kustomize base', () => {
    // Overlays add this one, because they know the addresses of the stores.
    const { 'NetworkPolicy allow-stores': allowStores, ...others } = byName(rendered);
    expect(allowStores).toMatchObject({
      spec: { egress: [{ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] }] },
    });
    expect(others).toEqual(byName(readBase()));
    expect(rendered).toHaveLength(readBase().length);
  });

  test('two releases in one namespace have no object in common and select no pods of each other', () => {
    const [one, other] = ['one', 'two'].map((release) => renderChart({ ...ALL_OPTIONS }, release));
    const names = new Set((one ?? []).map(nameOf));
    expect(names.size).toBe(everything.length);
    expect((other ?? []).map(nameOf).filter((name) => names.has(name))).toEqual([]);
    const text = JSON.stringify(one);
    expect(text).not.toContain('model-gateway-model-gateway');
    const selectors = text.match(/"(?:podSelector|selector|labelSelector)":\{/g) ?? [];
    const own = text.match(
      /"(?:podSelector|selector|labelSelector)":\{(?:"matchLabels":\{)?[^{}]*"app\.kubernetes\.io\/instance":"one"/g,
    );
    // The one selector without a release: pods that drive the browser.
    expect(own).toHaveLength(selectors.length - 1);
  });

  test('without the networks of the stores it fails, unless there are no network policies', () => {
    expect(() => renderChart({})).toThrow(
      /stores\.cidrs is empty: .*name the networks of Postgres and Redis there/,
    );
    const open = renderChart({ networkPolicies: { enabled: false } });
    expect(open.filter(({ kind }) => kind === 'NetworkPolicy')).toEqual([]);
  });

  test.each([
    { why: 'an unknown value', values: { ingres: {} }, names: 'ingres' },
    {
      why: 'an unknown part of the configuration file',
      values: { config: { backend: [] } },
      names: 'backend',
    },
    {
      why: 'a text where a list belongs',
      values: { stores: { cidrs: '10.0.0.0/8' } },
      names: 'cidrs',
    },
    { why: 'a setting that is a list', values: { settings: { A: [] } }, names: 'A' },
    { why: 'an unknown part of an image', values: { image: { name: 'x' } }, names: 'name' },
  ])('$why is refused by the schema of the values', ({ values, names }) => {
    expect(() => renderChart({ stores, ...values })).toThrow(
      new RegExp(`don't meet the specifications of the schema[\\s\\S]*${names}`),
    );
  });

  test.each([
    ['its defaults', () => rendered],
    ['all options', () => everything],
  ])('with %s it has only known objects and fields of Kubernetes', async (_options, manifests) => {
    const problems: string[] = [];
    // Sequentially: Jest fails when these modules, which share others, are loaded at the same time.
    for (const manifest of manifests())
      for (const problem of await schemaProblems(manifest))
        problems.push(`${nameOf(manifest)}${problem}`);
    expect(problems).toEqual([]);
  });

  test.each(['empty', 'laptop', 'replicas', 'team'])(
    'the configuration file %s.yaml can be its config',
    (name) => {
      const text = readFileSync(join(infraFolder, 'config', `${name}.yaml`), 'utf8');
      const config = parse(text) as Readonly<Record<string, unknown>>;
      expect(configOf(renderChart({ config, stores }))).toMatchObject(config);
    },
  );

  test('without a config it is the file of the Kustomize base', () => {
    expect(configOf(rendered)).toEqual(configOf(readBase()));
  });

  test('with metrics of pods, requests in flight and the journal decide about replicas', () => {
    const scaledBy = (manifests: readonly Manifest[], app: string): string =>
      JSON.stringify(find(manifests, 'HorizontalPodAutoscaler', `model-gateway-${app}`)['spec']);
    for (const app of ['gateway', 'rpc', 'agent-tunnel']) {
      expect(scaledBy(everything, app)).toContain('service_http_requests_in_flight');
      expect(scaledBy(rendered, app)).not.toContain('service_http_requests_in_flight');
    }
    expect(scaledBy(everything, 'video-worker')).toContain('service_journal_lag');
    expect(find(everything, 'Deployment', 'model-gateway-video-worker')['spec']).not.toHaveProperty(
      'replicas',
    );
  });

  test('another configuration file restarts the pods that read it', () => {
    const config = { aliases: [{ alias: 'a', target: 'b' }] };
    const changed = renderChart({ image: { tag: TAG }, config, stores });
    const hasChanged = (app: string): boolean =>
      !isDeepStrictEqual(deploymentOf(changed, app), deploymentOf(rendered, app));
    expect(['gateway', 'rpc', 'agent-tunnel', 'video-worker'].filter(hasChanged)).toEqual([
      'gateway',
      'rpc',
    ]);
  });

  test('settings reach every process of the service, numbers as texts, and restart its pods', () => {
    expect(find(everything, 'ConfigMap', 'model-gateway-settings')).toMatchObject({
      data: {
        SERVICE_LOG_BODIES: '1',
        SERVICE_OIDC_ISSUER: 'https://id.example.com/"x"',
        SERVICE_REFRESH_TOKEN_TTL_SECS: '2592000',
        SERVICE_REGISTRATION_OPEN: 'false',
      },
    });
    const changed = renderChart({ image: { tag: TAG }, settings: { A: 'b' }, stores });
    for (const app of ['gateway', 'rpc', 'agent-tunnel', 'video-worker']) {
      const deployment = deploymentOf(changed, app);
      expect(JSON.stringify(deployment)).toContain(
        '"configMapRef":{"name":"model-gateway-settings","optional":true}',
      );
      expect(deployment).not.toEqual(deploymentOf(rendered, app));
    }
  });

  test('a certificate without a host name is for every host, and no host has an empty name', () => {
    const tls = (ingress: object): unknown => {
      const manifests = renderChart({ ingress, stores });
      return (find(manifests, 'Ingress', 'model-gateway')['spec'] as { tls?: unknown }).tls;
    };
    expect(tls({ tlsSecretName: 'a' })).toEqual([{ secretName: 'a' }]);
    expect(tls({ tlsSecretName: 'a', host: 'b.example.com' })).toEqual([
      { secretName: 'a', hosts: ['b.example.com'] },
    ]);
    expect(tls({ host: 'b.example.com' })).toBeUndefined();
  });
});
