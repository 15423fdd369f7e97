// Programs that use generated clients; they are compiled beside what was generated.

/** Calls the REST API with openapi-fetch, by the types of openapi-typescript. */
export const FETCH_PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths } from './openapi.js';

declare const process: { env: { URL: string; KEY: string }; stdout: { write(text: string): void } };
const { URL: baseUrl, KEY } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + KEY } });
const chat = await client.POST('/v1/chat/completions', {
  body: { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello!' }] },
});
// The answers of other requests are streams, and those to clients that accept more than JSON can be refusals in plain text.
const choice = typeof chat.data === 'object' ? chat.data.choices[0] : undefined;
const missing = await client.GET('/v1/models/{id}', { params: { path: { id: 'missing' } } });
const code = typeof missing.error === 'object' ? missing.error.error.code : undefined;
process.stdout.write(JSON.stringify({ finished: choice?.finish_reason, code }));
`;

/** Uses the functions of hey-api and the class of swagger-typescript-api. */
export const TYPED_PROGRAM = `
import { createMessage, type MessageRequest } from './hey-api/index';
import { Api } from './swagger-typescript-api/api';

const body: MessageRequest = {
  model: 'demo-chat',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'Hello!' }],
};
// @ts-expect-error: the Messages API requires max_tokens.
const incomplete: MessageRequest = { model: 'demo-chat', messages: body.messages };
export const answers = async () => [
  (await createMessage({ body })).response?.status,
  (await new Api().v1.listModels()).data.data[0]?.owned_by,
  incomplete,
];
`;

/** Calls the RPC API by the client of the generator of OpenRPC. */
export const RPC_PROGRAM = `
import { ModelGateway } from './rpc.js';

declare const process: { env: { URL: string }; stdout: { write(text: string): void } };
const { hostname: host, port } = new URL(process.env.URL);
const client = new ModelGateway({
  transport: { type: 'http', host, port: Number(port), path: '/api/rpc' },
});
const { models_deployed: deployed } = await client['system.status']();
process.stdout.write(JSON.stringify({ deployed }));
`;
