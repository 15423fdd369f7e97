import { rpcMethods, type MethodContract, type RpcMethodName } from '@model-gateway/contracts';

/** The declaration of the method with a name; undefined for an unknown one. */
export const contractOf = (name: string): MethodContract | undefined =>
  isMethod(name) ? rpcMethods[name] : undefined;

export const isMethod = (name: string): name is RpcMethodName => Object.hasOwn(rpcMethods, name);
