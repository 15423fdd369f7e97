// Writes the files of the API viewer that `/docs` serves, compressed, with their licenses.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const FILES = ['swagger-ui-bundle.js', 'swagger-ui.css'];
const LICENSES = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'];

const source = new URL('./', import.meta.resolve('swagger-ui-dist/package.json'));
const target = new URL('../dist/viewer/', import.meta.url);
const read = (name) => readFileSync(new URL(name, source));
const write = (name, content) => writeFileSync(fileURLToPath(new URL(name, target)), content);

mkdirSync(target, { recursive: true });
for (const name of FILES) write(`${name}.gz`, gzipSync(withoutMap(read(name)), { level: 9 }));
write('LICENSE.txt', LICENSES.map((name) => read(name).toString()).join('\n'));

/** The source maps are not served: a browser would ask for them in vain. */
function withoutMap(content) {
  return content.toString().replace(/\n\/[/*]# sourceMappingURL=[^\n]*\s*$/, '\n');
}
