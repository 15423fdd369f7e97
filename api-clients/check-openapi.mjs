// `node check-openapi.mjs <file>`: validates a description with swagger-parser and openapi-schema-validator, lets Prism answer each
// operation that takes JSON or nothing, and prints the statuses.
import SwaggerParser from '@apidevtools/swagger-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createLogger } from '@stoplight/prism-core';
import { getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { createServer } from '@stoplight/prism-http-server';
import { readFileSync } from 'node:fs';

const [, , file] = process.argv;
const readDescription = () => JSON.parse(readFileSync(file, 'utf8'));
await SwaggerParser.validate(readDescription());
const { valid, errors } = await new Validator().validate(readDescription());
if (!valid) throw new Error(JSON.stringify(errors));

const operations = await getHttpOperationsFromSpec(file);
const mock = createServer(operations, {
  cors: false,
  config: {
    isProxy: false,
    checkSecurity: true,
    validateRequest: true,
    validateResponse: true,
    errors: true,
    mock: { dynamic: false },
  },
  components: { logger: createLogger('mock', { enabled: false }) },
});
const url = await mock.listen(0, '127.0.0.1');
const statuses = {};
const isForm = ({ request }) => request?.body?.contents?.[0]?.mediaType === 'multipart/form-data';
for (const { method, path, request } of operations.filter((each) => !isForm(each))) {
  const headers = { authorization: 'Bearer any', accept: '*/*' };
  const target = `${url}${path.replaceAll(/\{\w+\}/g, 'any')}?model=demo-chat&group_by=day`;
  const example = request?.body?.contents?.[0]?.examples?.[0]?.value;
  const response = await fetch(target, {
    method: method.toUpperCase(),
    headers: example === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(example === undefined ? {} : { body: JSON.stringify(example) }),
  });
  statuses[`${method} ${path}`] = response.status;
  await response.arrayBuffer();
}
await mock.close();
process.stdout.write(JSON.stringify(statuses));
