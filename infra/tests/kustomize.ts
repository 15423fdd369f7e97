import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, parse } from 'yaml';
import { readEnvironmentFile } from './environment-file.ts';
import type { Manifest } from './manifest.ts';

interface Image {
  readonly name: string;
  readonly newName?: string;
  readonly newTag?: string;
}

interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

interface Patch {
  readonly target: { readonly kind: string; readonly name?: string };
  readonly patch: string;
}

interface Kustomization {
  readonly namespace?: string;
  readonly labels?: readonly { readonly pairs: Readonly<Record<string, string>> }[];
  readonly resources?: readonly string[];
  readonly images?: readonly Image[];
  readonly patches?: readonly Patch[];
  readonly secretGenerator?: readonly { readonly name: string; readonly envs: readonly string[] }[];
}

const SUPPORTED = new Set([
  'apiVersion',
  'kind',
  'namespace',
  'labels',
  'resources',
  'images',
  'patches',
  'secretGenerator',
  'generatorOptions',
]);

/**
 * Does the same as `kubectl kustomize` for the features that our overlays use. Other features are errors, so that a test never sees
 * less than a cluster would.
 */
export function buildKustomization(
  folder: string,
  environmentFiles: Readonly<Record<string, string>> = {},
): readonly Manifest[] {
  const file = join(folder, 'kustomization.yaml');
  const source = parse(readFileSync(file, 'utf8')) as Kustomization;
  const unknown = Object.keys(source).filter((key) => !SUPPORTED.has(key));
  if (unknown.length > 0) throw new Error(`${file}: ${unknown.join(', ')} is not supported here`);
  const built = (source.resources ?? []).flatMap((resource) =>
    resource.endsWith('.yaml')
      ? readManifests(join(folder, resource))
      : buildKustomization(join(folder, resource), environmentFiles),
  );
  for (const { name, envs } of source.secretGenerator ?? [])
    built.push(secretOf(name, envs.map((env) => environmentFiles[env] ?? '').join('\n')));
  for (const patch of source.patches ?? []) applyPatch(built, patch);
  for (const manifest of built) transform(manifest, source);
  return built;
}

/** The objects of one file. Aliases, which kustomize does not keep, and duplicate keys are errors. */
export function readManifests(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    return document.toJS({ maxAliasCount: 0 }) as Manifest;
  });
}

function secretOf(name: string, text: string): Manifest {
  const entries = Object.entries(readEnvironmentFile(text));
  const data = entries.map(([key, value]) => [key, Buffer.from(value).toString('base64')] as const);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    type: 'Opaque',
    data: Object.fromEntries(data),
  };
}

function applyPatch(manifests: readonly Manifest[], { target, patch }: Patch): void {
  const targets = manifests.filter(
    ({ kind, metadata }) =>
      kind === target.kind && (target.name === undefined || metadata.name === target.name),
  );
  if (targets.length === 0) throw new Error(`nothing to patch: ${JSON.stringify(target)}`);
  for (const manifest of targets)
    for (const operation of parse(patch) as readonly Operation[]) operate(manifest, operation);
}

/** One operation of a JSON patch (RFC 6902). */
function operate(manifest: Manifest, { op, path, value }: Operation): void {
  const keys = path.split('/').slice(1);
  const last = keys.pop() ?? '';
  let place: unknown = manifest;
  for (const key of keys) place = (place as Record<string, unknown> | undefined)?.[key];
  if (typeof place !== 'object' || place === null) throw new Error(`nothing to patch at ${path}`);
  const holder = place as Record<string, unknown>;
  if (op !== 'add' && !(last in holder)) throw new Error(`nothing to patch at ${path}`);
  if (op === 'remove') delete holder[last];
  else if (Array.isArray(place) && last === '-') place.push(value);
  else holder[last] = value;
}

function transform(
  manifest: Manifest,
  { namespace, labels = [], images = [] }: Kustomization,
): void {
  const metadata = manifest.metadata as Record<string, unknown>;
  if (namespace !== undefined && manifest.kind !== 'Namespace') metadata['namespace'] = namespace;
  for (const { pairs } of labels)
    metadata['labels'] = { ...(metadata['labels'] as object | undefined), ...pairs };
  for (const container of containersBelow(manifest)) {
    const image = images.find(({ name }) => name === container.image);
    if (image !== undefined)
      container.image = `${image.newName ?? image.name}${image.newTag === undefined ? '' : `:${image.newTag}`}`;
  }
}

function containersBelow(value: unknown): readonly { image: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) =>
    key === 'containers' ? (below as { image: string }[]) : containersBelow(below),
  );
}
