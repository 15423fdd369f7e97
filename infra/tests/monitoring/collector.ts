import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** A span that the collector received. */
export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly hasFailed: boolean;
}

/** A simple collector of traces. */
export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything that it received, as text. */
  readonly text: string;
  close(): Promise<void>;
}

const valueSchema: z.ZodType = z.union([
  z.object({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
  z.object({ intValue: z.coerce.number() }).transform(({ intValue }) => intValue),
  z.object({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
  z.object({ boolValue: z.boolean() }).transform(({ boolValue }) => boolValue),
  z
    .object({ arrayValue: z.object({ values: z.array(z.lazy(() => valueSchema)) }) })
    .transform(({ arrayValue }) => arrayValue.values),
]);
const attributesSchema = z
  .array(z.object({ key: z.string(), value: valueSchema }))
  .transform((pairs) => Object.fromEntries(pairs.map(({ key, value }) => [key, value])));
const spanSchema = z.object({
  name: z.string(),
  kind: z.int(),
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z.string().default(''),
  attributes: attributesSchema,
  status: z.object({ code: z.int() }),
});
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: attributesSchema }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});
const FAILED = 2;

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      texts.push(text);
      if (request.url === '/v1/traces') spans.push(...readSpans(text));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    get text() {
      return texts.join('\n');
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function readSpans(text: string): readonly CollectedSpan[] {
  const { resourceSpans } = exportSchema.parse(JSON.parse(text));
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map(({ status, ...span }) => ({
        ...span,
        service: String(resource.attributes['service.name']),
        hasFailed: status.code === FAILED,
      })),
    ),
  );
}
