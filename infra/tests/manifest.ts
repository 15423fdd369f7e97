import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { infraFolder } from './infra-folder.ts';

/** Any object of Kubernetes, with the fields that these tests use. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string | number };
  readonly exec?: { readonly command: readonly string[] };
  readonly timeoutSeconds?: number;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly args?: readonly string[];
  readonly env: readonly EnvironmentVariable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources: {
    readonly requests: Readonly<Record<string, string>>;
    readonly limits: Readonly<Record<string, string>>;
  };
  readonly securityContext: object;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

interface PodSpec {
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string }[];
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext: object;
  readonly automountServiceAccountToken: boolean;
}

/** An object that runs pods: a Deployment, a StatefulSet or a Job. */
export interface Workload extends Manifest {
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata: {
        readonly labels: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: PodSpec;
    };
  };
}

const WORKLOADS = ['Deployment', 'StatefulSet', 'Job'];

export const isWorkload = (manifest: Manifest): manifest is Workload =>
  WORKLOADS.includes(manifest.kind);

export const kindOf =
  (kind: string) =>
  (manifest: Manifest): boolean =>
    manifest.kind === kind;

/** The one object of a kind and name. */
export function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const [found, ...others] = manifests.filter(
    (one) => one.kind === kind && one.metadata.name === name,
  );
  if (found === undefined || others.length > 0)
    throw new Error(`there is not exactly one ${kind} ${name}`);
  return found;
}

export function findWorkload(manifests: readonly Manifest[], kind: string, name: string): Workload {
  const found = find(manifests, kind, name);
  if (!isWorkload(found)) throw new Error(`${kind} ${name} runs no pods`);
  return found;
}

/** The container of an app's Deployment. */
export function containerOf(manifests: readonly Manifest[], app: string): Container {
  const [container] = findWorkload(manifests, 'Deployment', app).spec.template.spec.containers;
  if (container === undefined) throw new Error(`${app} has no container`);
  return container;
}

/** The objects of a YAML text. Aliases, which kustomize does not keep, and duplicate keys are errors. */
export function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    const manifest = document.toJS({ maxAliasCount: 0 }) as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

/** The objects of the Kustomize base as they are written, without the namespace and the labels that it adds. */
export function readBase(): readonly Manifest[] {
  const folder = join(infraFolder, 'k8s', 'base');
  return readdirSync(folder)
    .filter((file) => file !== 'kustomization.yaml')
    .flatMap((file) => parseManifests(readFileSync(join(folder, file), 'utf8')));
}
