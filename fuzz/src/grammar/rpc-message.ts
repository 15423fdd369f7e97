import { rpcMethods, type RpcMethodName } from '@model-gateway/contracts';
import * as fc from 'fast-check';
import { fromShape, type FieldValues } from './from-schema.ts';
import { hostileValue, mutated, textOf } from './hostile.ts';
import { listTree, objectTree, rawTree, treeOf, type JsonTree } from './json-tree.ts';
import { onTheWire, type WireText } from './wire-text.ts';

const FIELDS: FieldValues = {
  model: ['"{{model}}"'],
  model_id: ['"{{model}}"', '"fuzz-node"'],
  group_id: ['"{{group_id}}"'],
  key_id: ['"{{key_id}}"'],
  conversation_id: ['"{{conversation_id}}"'],
  agent_id: ['"{{agent_id}}"'],
  user_id: ['"user@example.com"', '"owner@example.com"'],
  email: ['"user@example.com"', '"nobody@example.com"'],
};

// Cases that follow need what these would remove.
const REMOVES = /\.(delete|remove|leave|deregister|revoke|logout)$/;
// Hashing a password takes a quarter of a second.
const HASHES = ['auth.register', 'auth.login'];

const names = Object.keys(rpcMethods) as RpcMethodName[];

const paramsOf = (name: RpcMethodName): fc.Arbitrary<JsonTree> =>
  fromShape(rpcMethods[name].params, REMOVES.test(name) ? {} : FIELDS);

const id = fc.oneof(
  { weight: 4, arbitrary: fc.nat().map(treeOf) },
  { weight: 2, arbitrary: fc.string({ maxLength: 12 }).map(treeOf) },
  { weight: 1, arbitrary: hostileValue.map(rawTree) },
);

const call = (name: string, params: fc.Arbitrary<JsonTree>): fc.Arbitrary<JsonTree> =>
  fc.record({ params, id }).map((fields) =>
    objectTree({
      jsonrpc: treeOf('2.0'),
      id: fields.id,
      method: treeOf(name),
      params: fields.params,
    }),
  );

const noParams = fc.constant(objectTree({}));

const validCall = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.oneof(
      ...names.filter((name) => !HASHES.includes(name)).map((name) => call(name, paramsOf(name))),
    ),
  },
  { weight: 4, arbitrary: call('rpc.discover', noParams) },
  { weight: 2, arbitrary: call('system.probe', noParams) },
  { weight: 2, arbitrary: fc.string().chain((name) => call(name, noParams)) },
  { weight: 2, arbitrary: call('auth.login', noParams) },
  { weight: 1, arbitrary: call('auth.login', paramsOf('auth.login')) },
);

const batch = fc.array(mutated(validCall), { maxLength: 8 }).map(listTree);

const repeatedBatch = fc
  .tuple(validCall, fc.integer({ min: 1, max: 1100 }))
  .map(([each, count]) => listTree(Array.from({ length: count }, () => each)));

/** One message of the management plane: a request, a batch, or anything else. */
export const rpcMessage: fc.Arbitrary<WireText> = onTheWire(
  fc.oneof(
    { weight: 60, arbitrary: textOf(mutated(validCall)) },
    { weight: 20, arbitrary: textOf(batch) },
    { weight: 1, arbitrary: textOf(repeatedBatch) },
    { weight: 5, arbitrary: hostileValue },
    { weight: 5, arbitrary: fc.string() },
  ),
);
