// Renders the OpenRPC document as the reference of the management plane.
import { typeText } from './type-text.mjs';

const AUTH = {
  public: 'anyone',
  jwt: 'JWT',
  admin: 'JWT of an admin',
  'admin-token': 'admin token',
  'admin-or-admin-token': 'JWT of an admin, or admin token',
  'jwt-or-admin-token': 'JWT or admin token',
};

const INTRODUCTION = `# The management plane

Generated from the code by \`node scripts/reference.mjs\`; do not edit. The same document for machines is what
\`rpc.discover\` answers (OpenRPC). [packages/client](../packages/client/README.md) is a typed client
for Node and the browser.

- \`POST /api/rpc\`: JSON-RPC 2.0, one request or a batch, at most 1 MiB. Every JSON-RPC answer is
  HTTP 200, errors included.
- \`GET /api/rpc\` upgraded to a WebSocket: the same messages as text frames. Without a valid token
  only the methods for anyone are answered, and \`system.probe\`, which is answered \`{ok: true,
  status: "ok"}\` before the socket closes.
- The token is an access token of \`auth.login\` (JWT) or the admin token: \`Authorization: Bearer …\`.
  An access token may also be in the query of a WebSocket, \`?token=…\`.
- \`GET /api/rpc/events?session=…\`: the event stream, on which [notifications](#notifications)
  arrive. With the header \`x-session-id\` on a POST, a copy of the answer arrives there too.

Params are given by name; a \`?\` marks what may be left out, and unknown params are ignored.
Extensions are methods of our own, which \`rpc.discover\` marks with \`x-extension\`.
`;

const specifiedFirst = (methods) =>
  methods.toSorted(
    (left, right) => Number(left['x-extension'] ?? false) - Number(right['x-extension'] ?? false),
  );

/**
 * @param {import('../../packages/contracts/src/rpc/openrpc.ts').OpenRpcDocument} document
 * @returns {string}
 */
export function renderRpc(document) {
  const records = document.components.schemas;
  const type = (schema) => typeText(schema, records);
  return [
    INTRODUCTION,
    ...namespacesOf(specifiedFirst(document.methods)).map(([namespace, methods]) =>
      section(
        `## ${namespace}`,
        ['Method', 'For', 'Params', 'Result'],
        methods.map((method) => [
          `\`${method.name}\`${method['x-extension'] === true ? ' (extension)' : ''}<br>${method.summary}`,
          AUTH[method['x-auth']],
          method.params.map((param) => field(param, type)).join('<br>') || 'none',
          type(method.result.schema),
        ]),
      ),
    ),
    section(
      '## Notifications',
      ['Notification', 'Started by', 'Params'],
      document['x-notifications'].map(({ name, summary, emittedBy, params }) => [
        `\`${name}\`<br>${summary}`,
        emittedBy.map((method) => `\`${method}\``).join(', '),
        (params.anyOf ?? [params]).map(type).join('<br>or '),
      ]),
    ),
    section(
      '## Errors',
      ['Code', 'Name', 'Meaning'],
      Object.entries(document.components.errors).map(([name, { code, message }]) => [
        `${code}`,
        name,
        message,
      ]),
    ),
    '## Records\n',
    ...Object.entries(records)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, schema]) =>
        section(`### ${name} record`, ['Field', 'Type'], fieldsOf(schema, type)),
      ),
  ].join('\n');
}

function namespacesOf(methods) {
  const namespaces = new Map();
  for (const method of methods) {
    const [namespace] = method.name.split('.');
    namespaces.set(namespace, [...(namespaces.get(namespace) ?? []), method]);
  }
  return [...namespaces];
}

function section(heading, columns, rows) {
  const line = (cells) =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  return [
    heading,
    '',
    line(columns),
    `|${'---|'.repeat(columns.length)}`,
    ...rows.map(line),
    '',
  ].join('\n');
}

function field({ name, required, schema }, type) {
  return `\`${name}${required ? '' : '?'}\` ${type(schema)}`;
}

function fieldsOf({ properties, required = [] }, type) {
  return Object.entries(properties).map(([name, schema]) => [
    `\`${name}${required.includes(name) ? '' : '?'}\``,
    type(schema),
  ]);
}
