import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chartValues, renderChart, renderTemplate } from './helm-template.ts';
import { infraFolder } from './infra-folder.ts';
import { schemaProblems } from './kubernetes-schema.ts';
import { buildKustomization } from './kustomize.ts';
import { find, type Manifest } from './manifest.ts';

const chart = join(infraFolder, 'helm', 'model-gateway');
const base = buildKustomization(join(infraFolder, 'k8s', 'base'));
const TAG = '1.2.3';
/** As the base names its images. */
const stores = { cidrs: ['10.1.0.0/16'] };
const rendered = renderChart(chart, chartValues(chart, { image: { tag: TAG }, stores }));
const everything = renderChart(
  chart,
  chartValues(chart, {
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
  }),
);
const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

/** What only one of both has: the namespace of kustomize, versions, hooks of Helm, and the hash that restarts pods. */
function comparable(manifest: Manifest): unknown {
  const text = JSON.stringify(manifest, (name, value: unknown) =>
    name === 'namespace' && value === 'model-gateway' ? undefined : value,
  );
  const { metadata, ...others } = JSON.parse(
    text.replaceAll(`:${TAG}"`, '"').replaceAll(/,"model-gateway\/(?:config|settings)":"\w+"/g, ''),
  ) as Manifest;
  const { annotations = {}, ...named } = metadata;
  const kept = Object.entries(annotations).filter(([name]) => !name.startsWith('helm.sh/'));
  const withAnnotations = kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) };
  return { ...others, metadata: { ...named, ...withAnnotations } };
}

const byName = (manifests: readonly Manifest[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    manifests
      .filter(({ kind }) => kind !== 'Namespace' && kind !== 'ConfigMap')
      .map((manifest) => [nameOf(manifest), comparable(manifest)]),
  );

test('the chart installs the same objects as the Kustomize base', () => {
  // Overlays add this one, because they know the addresses of the stores.
  const { 'NetworkPolicy allow-stores': allowStores, ...others } = byName(rendered);
  expect(allowStores).toMatchObject({
    spec: { egress: [{ to: [{ ipBlock: { cidr: '10.1.0.0/16' } }] }] },
  });
  expect(others).toEqual(byName(base));
  expect(rendered).toHaveLength(base.length);
});

test('without the networks of the stores it fails, unless there are no network policies', () => {
  expect(() => renderChart(chart, chartValues(chart))).toThrow(
    /^stores\.cidrs is empty: .*name the networks of Postgres and Redis there/,
  );
  const open = renderChart(chart, chartValues(chart, { networkPolicies: { enabled: false } }));
  expect(open.filter(({ kind }) => kind === 'NetworkPolicy')).toEqual([]);
});

test.each([
  ['its defaults', rendered],
  ['all options', everything],
])('with %s it has only known objects and fields of Kubernetes', async (_options, manifests) => {
  const problems: string[] = [];
  // Sequentially: Jest fails when these modules, which share others, are loaded at the same time.
  for (const manifest of manifests)
    for (const problem of await schemaProblems(manifest))
      problems.push(`${nameOf(manifest)}${problem}`);
  expect(problems).toEqual([]);
});

const configOf = (manifests: readonly Manifest[]): unknown => {
  const { data } = find(manifests, 'ConfigMap', 'model-gateway-config') as Manifest & {
    readonly data: Readonly<Record<string, string>>;
  };
  return parse(data['service.yaml'] ?? '');
};

test.each(['empty', 'laptop', 'replicas', 'team'])(
  'the configuration file %s.yaml can be its config',
  (name) => {
    const text = readFileSync(join(infraFolder, 'config', `${name}.yaml`), 'utf8');
    const config = parse(text) as Readonly<Record<string, unknown>>;
    const installed = renderChart(chart, chartValues(chart, { config, stores }));
    expect(configOf(installed)).toMatchObject(config);
  },
);

test('without a config it is the file of the Kustomize base', () => {
  expect(configOf(rendered)).toEqual(configOf(base));
});

const scaledBy = (manifests: readonly Manifest[], app: string): unknown =>
  find(manifests, 'HorizontalPodAutoscaler', app)['spec'];

test('with metrics of pods, requests in flight and the journal decide about replicas', () => {
  for (const app of ['gateway', 'rpc', 'agent-tunnel']) {
    expect(JSON.stringify(scaledBy(everything, app))).toContain('service_http_requests_in_flight');
    expect(JSON.stringify(scaledBy(rendered, app))).not.toContain('Pods","pods"');
  }
  expect(JSON.stringify(scaledBy(everything, 'video-worker'))).toContain('service_journal_lag');
  expect(find(everything, 'Deployment', 'video-worker')['spec']).not.toHaveProperty('replicas');
});

test('another configuration file restarts the pods that read it', () => {
  const others = { config: { aliases: [{ alias: 'a', target: 'b' }] }, stores };
  const changed = renderChart(chart, chartValues(chart, others));
  const unchanged = renderChart(chart, chartValues(chart, { stores }));
  for (const app of ['gateway', 'rpc']) {
    expect(find(changed, 'Deployment', app)).not.toEqual(find(unchanged, 'Deployment', app));
  }
  expect(find(changed, 'Deployment', 'video-worker')).toEqual(
    find(unchanged, 'Deployment', 'video-worker'),
  );
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
  const changed = renderChart(chart, chartValues(chart, { settings: { A: 'b' }, stores }));
  const unchanged = renderChart(chart, chartValues(chart, { stores }));
  for (const app of ['gateway', 'rpc', 'agent-tunnel', 'video-worker']) {
    const deployment = find(changed, 'Deployment', app);
    expect(JSON.stringify(deployment)).toContain(
      '"configMapRef":{"name":"model-gateway-settings","optional":true}',
    );
    expect(deployment).not.toEqual(find(unchanged, 'Deployment', app));
  }
});

test('a certificate without a host name is for every host, and no host has an empty name', () => {
  const tls = (ingress: object): unknown => {
    const manifests = renderChart(chart, chartValues(chart, { ingress, stores }));
    return (find(manifests, 'Ingress', 'model-gateway')['spec'] as { tls?: unknown }).tls;
  };
  expect(tls({ tlsSecretName: 'a' })).toEqual([{ secretName: 'a' }]);
  expect(tls({ tlsSecretName: 'a', host: 'b.example.com' })).toEqual([
    { secretName: 'a', hosts: ['b.example.com'] },
  ]);
  expect(tls({ host: 'b.example.com' })).toBeUndefined();
});

test.each([
  { template: '{{ .Values.a }}', why: 'a value that is not set' },
  { template: '{{ include "x" . }}', why: 'a function that the tests do not know' },
  { template: '{{ .Values | upper }}', why: 'a filter that the tests do not know' },
  { template: '{{ if .Values }}', why: 'an if without an end' },
  { template: '{{ else }}', why: 'an else without an if' },
])('a template with $why is an error', ({ template }) => {
  expect(() => renderTemplate(template, {})).toThrow(Error);
});
