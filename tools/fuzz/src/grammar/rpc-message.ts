import { rpcMethods, type RpcMethodName } from '@model-gateway/contracts';
import * as fc from 'fast-check';
import { fromShape, type FieldValues } from './from-schema.ts';
import { hostileValue, mutated, textOf } from './hostile.ts';
import { listTree, objectTree, rawTree, treeOf, type JsonTree } from './json-tree.ts';
import { onTheWire, type WireText } from './wire-text.ts';

/** Aliases that expand to much more than the text has. */
const growingYaml = (levels: number, aliases: number): string =>
  Array.from({ length: levels }, (_, level) => {
    const items =
      level === 0
        ? '"lol"'
        : Array(aliases)
            .fill(`*a${level - 1}`)
            .join(',');
    return `a${level}: &a${level} [${items}]`;
  }).join('\n');
const cursorOf = (...parts: readonly string[]): string =>
  JSON.stringify(Buffer.from(JSON.stringify(parts)).toString('base64url'));
const CURSORS = [
  cursorOf('9999-99-99 99:99:99+00', '00000000-0000-0000-0000-000000000000'),
  cursorOf('infinity', '00000000-0000-0000-0000-000000000000'),
  cursorOf('2026-01-01 00:00:00+00', 'x'),
];

const FIELDS: FieldValues = {
  text: [JSON.stringify(growingYaml(8, 150)), JSON.stringify(growingYaml(40, 3))],
  cursor: CURSORS,
  before: CURSORS,
  after: CURSORS,
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
