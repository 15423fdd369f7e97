import type { IncomingMessage } from 'node:http';
import { uploadFieldsSchema } from '@model-gateway/contracts';
import { readUpload, type FormField, type Upload, type UploadFiles } from '@model-gateway/http';
import {
  expectedRelayed,
  isGatewayField,
  RELAYED_OPERATIONS,
  runCall,
  type RelayedOperation,
  type RelayedSource,
} from '@model-gateway/inference';
import { tryParseJson } from '@model-gateway/kernel';
import type { CallRoute } from '../surface/http-call.ts';
import { serveRelayed, type RelayRouteDependencies } from './relayed.ts';

interface UploadRouteDependencies extends RelayRouteDependencies {
  readonly uploadFiles: UploadFiles;
  readonly uploadBytesMax: number;
}

/** A repeated field of a form may have brackets. */
const LIST = '[]';
const ROUTING = ['model', 'models', `models${LIST}`, 'provider'] as const;

/** The routes whose audio passes to upstreams while the client sends it. */
export function createUploadRoutes(dependencies: UploadRouteDependencies): readonly CallRoute[] {
  const { transcriptions, translations } = RELAYED_OPERATIONS;
  return [transcriptions, translations].map((operation) =>
    createUploadRoute(operation, dependencies),
  );
}

function createUploadRoute(
  operation: RelayedOperation,
  dependencies: UploadRouteDependencies,
): CallRoute {
  const { admission, uploadFiles: files, uploadBytesMax: bytesMax } = dependencies;
  return {
    method: 'POST',
    path: `/v1${operation.path}`,
    async handle(call) {
      let upload: Upload | undefined;
      try {
        const admitting = admission.admit(call, uploadFieldsSchema, {
          expected: expectedRelayed(operation, declaredBytes(call.request)),
          async read(form, owner) {
            upload = await readUpload(form, { bytesMax, files, owner, decisive: ROUTING });
            return routingOf(upload.fields);
          },
        });
        await runCall(call, admitting, dependencies, async (running) => {
          if (upload === undefined) throw new Error('an admitted upload was read');
          const source = uploadSource(upload);
          await serveRelayed(call, running, { operation, source }, dependencies);
        });
      } finally {
        await upload?.close();
      }
    },
  };
}

/** How large a form is, if the client says so before it sends it. */
function declaredBytes({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** The form with the model that the backend lists, and without the fields for the gateway. */
function uploadSource(upload: Upload): RelayedSource {
  const forwarded = upload.fields.filter(({ name }) => !isGatewayField(baseOf(name)));
  return {
    contentFor: (model) =>
      upload.bodyWith(
        forwarded.map((field) =>
          field.name === 'model' ? { name: 'model', value: model } : field,
        ),
      ),
    upload,
  };
}

/** The fields that route a form: lists and objects as JSON, or a list as a repeated field. */
function routingOf(fields: readonly FormField[]): Readonly<Record<string, unknown>> {
  const valueOf = (name: string) => fields.findLast((field) => field.name === name)?.value;
  const provider = valueOf('provider');
  const models = fields.filter(({ name }) => baseOf(name) === 'models').map(({ value }) => value);
  const [first] = models;
  const list = models.length === 1 && first !== undefined ? tryParseJson(first) : undefined;
  return {
    model: valueOf('model'),
    ...(models.length === 0 ? {} : { models: Array.isArray(list) ? list : models }),
    ...(provider === undefined ? {} : { provider: objectOr(provider) }),
  };
}

function objectOr(text: string): unknown {
  const value = tryParseJson(text);
  return typeof value === 'object' && value !== null ? value : text;
}

const baseOf = (name: string): string => (name.endsWith(LIST) ? name.slice(0, -LIST.length) : name);
