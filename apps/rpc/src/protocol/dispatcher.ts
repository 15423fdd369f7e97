import { rpcMethods, ServiceError, type RpcMethodName } from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import { ErrorObject, JsonRpcError, SuccessObject } from 'jsonrpc-lite';
import { z } from 'zod';
import type { Authorise, Credentials } from './authorise.ts';
import type { Handlers } from './handlers.ts';
import { toRpcError } from './rpc-error.ts';

/** Answers JSON-RPC messages; knows no transport. */
export interface Dispatcher {
  /** The answer to the text of one message. */
  answer(text: string, credentials: Credentials): Promise<SuccessObject | ErrorObject>;
}

interface DispatcherDependencies {
  readonly methods: Handlers;
  readonly authorise: Authorise;
  readonly log: Log;
}

const envelope = z.object({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).nullish(),
  id: z.union([z.string(), z.int(), z.null()]).default(null),
});

export function createDispatcher({ methods, authorise, log }: DispatcherDependencies): Dispatcher {
  async function call(
    message: z.output<typeof envelope>,
    credentials: Credentials,
  ): Promise<object> {
    const name = message.method;
    if (!isMethod(name)) throw new UnknownMethodError(name);
    const contract = rpcMethods[name];
    const context = await authorise(name, contract, credentials);
    const params = contract.params.safeParse(message.params ?? {});
    if (!params.success) throw invalidParams(params.error);
    // The table ties each handler to its own params and context; the union of all of them cannot be called directly.
    const handler = methods[name] as (params: unknown, context: unknown) => Promise<object>;
    return handler(params.data, context);
  }

  return {
    async answer(text, credentials) {
      const parsed = parse(text);
      if (parsed === undefined)
        return new ErrorObject(null, new JsonRpcError('Parse error', -32_700));
      const message = envelope.safeParse(parsed.value);
      if (!message.success)
        return new ErrorObject(null, new JsonRpcError('Invalid request', -32_600));
      const { id } = message.data;
      try {
        return new SuccessObject(id, await call(message.data, credentials));
      } catch (error) {
        if (error instanceof UnknownMethodError) return new ErrorObject(id, error.rpcError);
        return new ErrorObject(id, toRpcError(error, log));
      }
    },
  };
}

class UnknownMethodError extends Error {
  readonly rpcError: JsonRpcError;

  constructor(method: string) {
    super(method);
    this.rpcError = new JsonRpcError(`Method not found: ${method}`, -32_601);
  }
}

function isMethod(name: string): name is RpcMethodName {
  return Object.hasOwn(rpcMethods, name);
}

function invalidParams(error: z.ZodError): ServiceError {
  const issues = error.issues.map((issue) => ({
    path: issue.path.join('.'),
    message: issue.message,
  }));
  const first = issues[0];
  return new ServiceError(
    'missing_fields',
    `Invalid params: ${first?.path ?? ''}: ${first?.message ?? ''}`,
    {
      details: { issues },
    },
  );
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
