import { noRoute } from './no-route.ts';

test.each([
  ['/chat/completions', '. Did you mean /v1/chat/completions? The base URL ends with /v1'],
  ['/models/gpt-4o', '. Did you mean /v1/models/gpt-4o? The base URL ends with /v1'],
  [
    '/v1/v1/messages',
    '. Did you mean /v1/messages? The path has /v1 twice: remove it from the base URL of the client',
  ],
  [
    '/v1/chat/completions/chat/completions',
    '. Did you mean /v1/chat/completions? The base URL ends with /v1',
  ],
  ['/v1/messages/v1/messages', '. Did you mean /v1/messages? The base URL is the address alone'],
  ['/api/v1/models', '. Did you mean /v1/models? The base URL ends with /v1'],
  ['/v1/chat/completions', ''],
  ['/v1/assistants', ''],
  ['/chatter', ''],
])('the error for %s says what was meant, if it is known', (path, advice) => {
  expect(noRoute('POST', path).message).toBe(`no route POST ${path}${advice}`);
});
