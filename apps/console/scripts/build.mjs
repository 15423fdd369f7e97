// Builds the console to dist: hashed files, each also compressed, and an id of the build that open pages compare with theirs.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
// Level 11 takes ten times as long for 4 % less.
const BROTLI_LEVEL = 9;

process.env.NODE_ENV = 'production';
await build({ root, configFile: join(root, 'vite.config.mjs'), logLevel: 'warn' });

const assets = readdirSync(join(dist, 'assets')).toSorted();
const id = createHash('sha256').update(assets.join('\n')).digest('hex').slice(0, 12);
const page = readFileSync(join(dist, 'index.html'), 'utf8');
writeFileSync(join(dist, 'index.html'), page.replace('build-id', id));
writeFileSync(join(dist, 'build.json'), `${JSON.stringify({ build: id })}\n`);
for (const name of ['index.html', ...assets.map((asset) => join('assets', asset))]) {
  const file = join(dist, name);
  const content = readFileSync(file);
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL } }),
  );
}
