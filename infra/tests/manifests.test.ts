import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { appSettings, environmentProblems, serverSettings } from './app-settings.ts';
import { buildableApps, imageOf } from './dockerfile.ts';
import { makeEnvironmentFile, readEnvironmentFile } from './environment-file.ts';
import { infraFolder } from './infra-folder.ts';
import { schemaProblems } from './kubernetes-schema.ts';
import {
  containerOf,
  find,
  findWorkload,
  isWorkload,
  kindOf,
  parseManifests,
  type Manifest,
  type Workload,
} from './manifest.ts';
import { buildKustomization, describeWith } from './programs.ts';

const APPS = Object.keys(appSettings);
const SERVERS = Object.keys(serverSettings);
const OVERLAYS = ['dev', 'production'];
/** The time that running requests have to finish. */
const DRAIN_SECS = 30;

const k8s = join(infraFolder, 'k8s');
const secrets = makeEnvironmentFile();
const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

const RESTRICTIONS = {
  SERVICE_FIRST_ADMIN: 'token',
  SERVICE_SESSION_AUTH: '1',
  SERVICE_MIN_MULTIPLIER: '1',
};

const selectedBy =
  (selector: Readonly<Record<string, string>>) =>
  ({ spec }: Workload): boolean =>
    Object.entries(selector).every(([key, value]) => spec.template.metadata.labels[key] === value);

describeWith('kustomize', () => {
  let base: readonly Manifest[];
  const built: Record<string, readonly Manifest[]> = {};
  const of = (overlay: string): readonly Manifest[] => built[overlay] ?? [];

  beforeAll(() => {
    base = buildKustomization('base');
    for (const overlay of OVERLAYS)
      built[overlay] = buildKustomization(`overlays/${overlay}`, secrets);
  });

  describe.each(OVERLAYS)('the overlay %s', (overlay) => {
    test('contains only known objects and fields of Kubernetes', async () => {
      const problems: string[] = [];
      // Sequentially: Jest fails when these modules, which share others, are loaded at the same time.
      for (const manifest of of(overlay))
        for (const problem of await schemaProblems(manifest))
          problems.push(`${nameOf(manifest)}${problem}`);
      expect(problems).toEqual([]);
      expect(of(overlay).length).toBeGreaterThan(25);
    });

    test('contains every object once, in the namespace', () => {
      const names = of(overlay).map(nameOf);
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
      const elsewhere = of(overlay).filter(
        ({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'model-gateway',
      );
      expect(elsewhere.map(nameOf)).toEqual([]);
    });

    test('sets a version for every image', () => {
      const images = of(overlay)
        .filter(isWorkload)
        .flatMap(({ spec }) => spec.template.spec.containers.map(({ image }) => image));
      expect(images.filter((image) => !/:[\w.-]+$/.test(image))).toEqual([]);
    });

    test('sets the required and no unknown variables of every app', () => {
      const problems = APPS.flatMap((app) =>
        environmentProblems(
          app,
          Object.fromEntries(
            containerOf(of(overlay), app).env.map(({ name, value }) => [name, value]),
          ),
        ),
      );
      expect(problems).toEqual([]);
    });

    test('gives the first account no rights by itself, and sessions and multipliers their limits', () => {
      const values = containerOf(of(overlay), 'rpc').env.map(({ name, value }) => [name, value]);
      expect(Object.fromEntries(values)).toMatchObject(RESTRICTIONS);
    });

    test('takes secrets only from the Secret, and only those that make-env.mjs prints', () => {
      const made = Object.keys(readEnvironmentFile(secrets));
      const references = of(overlay)
        .filter(isWorkload)
        .flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ env }) => env))
        .flatMap(({ valueFrom }) => (valueFrom === undefined ? [] : [valueFrom.secretKeyRef]));
      expect(new Set(references.map(({ name }) => name))).toEqual(
        new Set(['model-gateway-secrets']),
      );
      expect(made).toEqual(expect.arrayContaining(references.map(({ key }) => key)));
      const secretNames = new Set(
        Object.values(appSettings)
          .flat()
          .flatMap(({ env, secret }) => (secret === true ? [env] : [])),
      );
      const inTheOpen = of(overlay)
        .filter(isWorkload)
        .flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ env }) => env))
        .filter(({ name, value }) => value !== undefined && secretNames.has(name));
      expect(inTheOpen).toEqual([]);
    });

    test('contains Services for the ports of exactly one workload', () => {
      for (const service of of(overlay).filter(kindOf('Service'))) {
        const { selector, ports } = service['spec'] as {
          readonly selector: Readonly<Record<string, string>>;
          readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
        };
        const behind = of(overlay).filter(isWorkload).filter(selectedBy(selector));
        expect(behind.map(({ metadata }) => metadata.name)).toEqual([service.metadata.name]);
        const [container] = behind[0]?.spec.template.spec.containers ?? [];
        expect(container?.ports).toEqual(
          ports.map(({ port, targetPort }) => ({ name: targetPort, containerPort: port })),
        );
      }
    });

    test('contains network policies only for existing pods', () => {
      const workloads = of(overlay).filter(isWorkload);
      const known = new Set(
        workloads.map(({ spec }) => spec.template.metadata.labels['app.kubernetes.io/name']),
      );
      const policies = JSON.stringify(of(overlay).filter(kindOf('NetworkPolicy')));
      const named = [
        ...policies.matchAll(/"app\.kubernetes\.io\/name":"([^"]+)"/g),
        ...[...policies.matchAll(/"values":\[([^\]]+)\]/g)].flatMap(([, list = '']) => [
          ...list.matchAll(/"([^"]+)"/g),
        ]),
      ].map(([, name]) => name);
      expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
      expect(new Set(named)).toEqual(known);
    });
  });

  test('every manifest belongs to an overlay', () => {
    const files = readdirSync(k8s, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.yaml') && !file.endsWith('kustomization.yaml'),
    );
    const names = new Set(OVERLAYS.flatMap(of).map(nameOf));
    const unused = files.filter((file) =>
      parseManifests(readFileSync(join(k8s, file), 'utf8')).some(
        (manifest) => !names.has(nameOf(manifest)),
      ),
    );
    expect(files.length).toBeGreaterThan(10);
    expect(unused).toEqual([]);
  });

  test('unknown fields and values of a wrong type are found', async () => {
    const service = find(base, 'Service', 'rpc');
    expect(await schemaProblems({ ...service, spek: {} })).toEqual(['/spek is an unknown field']);
    const spec = service['spec'] as { readonly ports: readonly object[] };
    const ports = [{ ...spec.ports[0], port: 'eighty' }];
    expect(await schemaProblems({ ...service, spec: { ...spec, ports } })).toEqual([
      '/spec/ports/0/port must be integer',
    ]);
  });

  test('there is a Deployment for each app, of an image that can be built, and with its command', () => {
    const deployments = base.filter(kindOf('Deployment')).map(({ metadata }) => metadata.name);
    expect(deployments.toSorted()).toEqual(APPS.toSorted());
    expect(buildableApps()).toEqual(expect.arrayContaining(APPS));
    for (const app of APPS) {
      const { image, command, args = [] } = containerOf(base, app);
      expect(image).toBe(`model-gateway/${app}`);
      expect({ command, args }).toEqual({
        command: imageOf(app).entrypoint,
        args: imageOf(app).cmd,
      });
    }
  });

  test.each(SERVERS)('%s has a Service, a disruption budget and the specified probes', (app) => {
    const { spec } = findWorkload(base, 'Deployment', app);
    const { terminationGracePeriodSeconds = 0 } = spec.template.spec;
    const container = containerOf(base, app);
    const port = container.ports?.[0]?.containerPort;
    const value = (name: string): string | undefined =>
      container.env.find((one) => one.name === name)?.value;
    expect(container.startupProbe?.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(container.livenessProbe?.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(container.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'http' });
    expect(value('SERVICE_PORT')).toBe(String(port));
    expect(imageOf(app).env['SERVICE_PORT']).toBe(String(port));
    expect(spec.template.metadata.annotations).toMatchObject({
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': String(port),
      'prometheus.io/path': '/metrics',
    });
    const delay = Number(value('SERVICE_DRAIN_DELAY_SECS'));
    expect(delay).toBeGreaterThan(0);
    expect(terminationGracePeriodSeconds).toBeGreaterThan(DRAIN_SECS + delay);
    find(base, 'Service', app);
    const selector = { matchLabels: spec.selector?.matchLabels };
    expect(find(base, 'PodDisruptionBudget', app)['spec']).toMatchObject({ selector });
  });

  test('apps that clients and nodes connect to scale automatically and set no number of replicas', () => {
    for (const app of ['gateway', 'rpc', 'agent-tunnel']) {
      expect(find(base, 'HorizontalPodAutoscaler', app)['spec']).toMatchObject({
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: app },
      });
      expect(findWorkload(base, 'Deployment', app).spec.replicas).toBeUndefined();
    }
  });

  test('nothing runs as root, writes to its image or has a credential of the cluster', () => {
    for (const { spec } of of('dev').filter(isWorkload)) {
      const pod = spec.template.spec;
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(Object.keys(container.resources.requests)).toEqual(['cpu', 'memory']);
        expect(Object.keys(container.resources.limits)).toEqual(['memory']);
      }
    }
  });

  test('all mounts are volumes of the pod, and one is the data directory', () => {
    for (const app of APPS) {
      const { volumes = [] } = findWorkload(base, 'Deployment', app).spec.template.spec;
      const { volumeMounts = [], env } = containerOf(base, app);
      expect(volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
      const dataDirs = env.flatMap(({ name, value }) =>
        name === 'SERVICE_DATA_DIR' ? [value] : [],
      );
      expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(
        expect.arrayContaining(dataDirs),
      );
    }
  });

  test.each(['gateway', 'rpc'])('%s reads the configuration file of the ConfigMap', (app) => {
    const { data } = find(base, 'ConfigMap', 'model-gateway-config') as Manifest & {
      readonly data: Readonly<Record<string, string>>;
    };
    const { env, volumeMounts = [] } = containerOf(base, app);
    const folder = volumeMounts.find(({ name }) => name === 'config')?.mountPath;
    const file = env.find(({ name }) => name === 'SERVICE_CONFIG')?.value;
    expect(Object.keys(data).map((name) => `${folder}/${name}`)).toContain(file);
  });

  test.each(OVERLAYS)('the Ingress of %s routes every API to its app', (overlay) => {
    const { metadata, ...ingress } = find(of(overlay), 'Ingress', 'model-gateway');
    const { rules } = ingress['spec'] as {
      readonly rules: readonly {
        readonly http: {
          readonly paths: readonly {
            readonly path: string;
            readonly pathType: string;
            readonly backend: {
              readonly service: { readonly name: string; readonly port: object };
            };
          }[];
        };
      }[];
    };
    const paths = rules.flatMap(({ http }) => http.paths);
    expect(
      Object.fromEntries(paths.map(({ path, backend }) => [path, backend.service.name])),
    ).toEqual({
      '/v1': 'gateway',
      '/api/admin': 'gateway',
      '/api/health': 'gateway',
      '/healthz': 'gateway',
      '/readyz': 'gateway',
      '/docs': 'gateway',
      '/openapi.json': 'gateway',
      '/config.schema.json': 'gateway',
      '/': 'gateway',
      '/console': 'gateway',
      '/api/rpc': 'rpc',
      '/api/session': 'rpc',
      '/api/usage.csv': 'rpc',
      '/auth/oidc': 'rpc',
      '/ws/agent': 'agent-tunnel',
    });
    for (const { backend } of paths) {
      find(of(overlay), 'Service', backend.service.name);
      expect(backend.service.port).toEqual({ name: 'http' });
    }
    const annotation = (name: string): string =>
      metadata.annotations?.[`nginx.ingress.kubernetes.io/${name}`] ?? '';
    expect(annotation('proxy-buffering')).toBe('off');
    expect(annotation('proxy-request-buffering')).toBe('off');
    expect(Number(annotation('proxy-read-timeout'))).toBeGreaterThanOrEqual(3_600);
    expect(Number(annotation('proxy-send-timeout'))).toBeGreaterThanOrEqual(3_600);
    expect(Number.parseInt(annotation('proxy-body-size'), 10) * 1_048_576).toBeGreaterThan(
      104_857_600,
    );
  });

  test('the migration runs from the image of the gateway and needs only the database', () => {
    const [container] = findWorkload(base, 'Job', 'migrate').spec.template.spec.containers;
    expect(container?.image).toBe('model-gateway/gateway');
    expect(container?.env.map(({ name }) => name)).toEqual(['DATABASE_URL']);
  });

  test('the guide names every key of the Secret', () => {
    const guide = readFileSync(join(infraFolder, '..', 'docs', 'deployment.md'), 'utf8');
    const keys = Object.values(of('production').filter(isWorkload))
      .flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ env }) => env))
      .flatMap(({ valueFrom }) => (valueFrom === undefined ? [] : [valueFrom.secretKeyRef.key]));
    for (const key of keys) expect(guide).toContain(`\`${key}\``);
  });
});
