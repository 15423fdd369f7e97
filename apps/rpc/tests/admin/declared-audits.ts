import { rpcMethods, type RpcMethodName } from '@model-gateway/contracts';
import { createMethods } from '../../src/methods/index.ts';
import type { Services } from '../../src/services.ts';

export const NAMES = Object.keys(rpcMethods) as RpcMethodName[];

/** Any service: the methods are declared with it, and not called. */
const anything: unknown = new Proxy(() => anything, { get: () => anything });
export const METHODS = createMethods(anything as Services);
/** What each method says of the audit log; undefined for those that only read. */
export const AUDITS = NAMES.map((name) => {
  const method = METHODS[name];
  return { name, audit: typeof method === 'function' ? undefined : method.audit };
});
/** The methods with an audit rule. */
export const RECORDED = AUDITS.flatMap(({ name, audit = { none: 'reads' } }) =>
  'none' in audit ? [] : name,
);
