import type { Manifest } from './manifest.ts';

interface Problem {
  readonly instancePath: string;
  readonly message?: string;
}

interface Model {
  readonly prototype: { validate(this: unknown): void };
}

/**
 * The problems of an object according to the schemas of Kubernetes (1.27, of the package `kubernetes-models`). They allow unknown
 * fields, so a field that they never read is unknown, and a cluster would drop it.
 */
export async function schemaProblems(manifest: Manifest): Promise<readonly string[]> {
  const model = await modelOf(manifest);
  const unread: (() => readonly string[])[] = [];
  const tracked = trackReads(manifest, '', unread);
  try {
    model.prototype.validate.call(tracked);
  } catch (error) {
    const { errors = [] } = error as { readonly errors?: readonly Problem[] };
    if (errors.length === 0) throw error;
    return errors.map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
  }
  return unread.flatMap((fields) => fields()).map((path) => `${path} is an unknown field`);
}

async function modelOf({ apiVersion, kind }: Manifest): Promise<Model> {
  const models = (await import(`kubernetes-models/${apiVersion}/${kind}`)) as Record<string, Model>;
  const model = models[kind];
  if (model === undefined) throw new Error(`Kubernetes has no ${apiVersion} ${kind}`);
  return model;
}

/** The same value, which records its unread fields. */
function trackReads(value: unknown, path: string, unread: (() => readonly string[])[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const read = new Set<string | symbol>();
  const fields = Object.keys(value);
  const inner = (key: string, below: unknown): unknown =>
    trackReads(below, `${path}/${key}`, unread);
  const copy: object = Array.isArray(value)
    ? value.map((below, index) => inner(String(index), below))
    : Object.fromEntries(Object.entries(value).map(([key, below]) => [key, inner(key, below)]));
  if (!Array.isArray(value))
    unread.push(() => fields.filter((key) => !read.has(key)).map((key) => `${path}/${key}`));
  return new Proxy(copy, {
    get(target, key, receiver): unknown {
      read.add(key);
      return Reflect.get(target, key, receiver);
    },
  });
}
