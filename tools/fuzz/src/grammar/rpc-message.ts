import { rpcMethods, type RpcMethodName } from '@model-gateway/contracts';
import * as fc from 'fast-check';
import { fromShape, type FieldValues } from './from-schema.ts';
import { hostileValue } from './hostile.ts';
import { hostileText, jsonText, Raw } from './json-text.ts';
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
  Buffer.from(JSON.stringify(parts)).toString('base64url');
const CURSORS = [
  cursorOf('9999-99-99 99:99:99+00', '00000000-0000-0000-0000-000000000000'),
  cursorOf('infinity', '00000000-0000-0000-0000-000000000000'),
  cursorOf('2026-01-01 00:00:00+00', 'x'),
];

const FIELDS: FieldValues = {
  text: [growingYaml(8, 150), growingYaml(40, 3)],
  cursor: CURSORS,
  before: CURSORS,
  after: CURSORS,
  model: ['{{model}}'],
  model_id: ['{{model}}', 'fuzz-node'],
  group_id: ['{{group_id}}'],
  key_id: ['{{key_id}}'],
  conversation_id: ['{{conversation_id}}'],
  agent_id: ['{{agent_id}}'],
  user_id: ['user@example.com', 'owner@example.com'],
  email: ['user@example.com', 'nobody@example.com'],
};

// Cases that follow need what these would remove.
const REMOVES = /\.(delete|remove|leave|deregister|revoke|logout)$/;
// Hashing a password takes a quarter of a second.
const HASHES = ['auth.register', 'auth.login'];

const names = Object.keys(rpcMethods) as RpcMethodName[];

const paramsOf = (name: RpcMethodName): fc.Arbitrary<unknown> =>
  fromShape(rpcMethods[name].params, REMOVES.test(name) ? {} : FIELDS);

const id = fc.oneof(
  { weight: 4, arbitrary: fc.nat() },
  { weight: 2, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 1, arbitrary: hostileValue.map((text) => new Raw(text)) },
);

const call = (method: string, params: fc.Arbitrary<unknown> = fc.constant({})) =>
  fc.record({ jsonrpc: fc.constant('2.0'), id, method: fc.constant(method), params });

const validCall = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.oneof(
      ...names.filter((name) => !HASHES.includes(name)).map((name) => call(name, paramsOf(name))),
    ),
  },
  { weight: 4, arbitrary: call('rpc.discover') },
  { weight: 2, arbitrary: call('system.probe') },
  { weight: 2, arbitrary: fc.string().chain((name) => call(name)) },
  { weight: 2, arbitrary: call('auth.login') },
  { weight: 1, arbitrary: call('auth.login', paramsOf('auth.login')) },
);

const batch = fc
  .array(jsonText(validCall), { maxLength: 8 })
  .map((texts) => `[${texts.join(',')}]`);
const repeatedBatch = fc
  .tuple(jsonText(validCall), fc.integer({ min: 1, max: 1100 }))
  .map(([text, count]) => `[${Array(count).fill(text).join(',')}]`);

/** One message of the management plane: a request, a batch, or anything else. */
export const rpcMessage: fc.Arbitrary<WireText> = onTheWire(
  fc.oneof(
    { weight: 60, arbitrary: hostileText(validCall) },
    { weight: 20, arbitrary: batch },
    { weight: 1, arbitrary: repeatedBatch },
  ),
);
