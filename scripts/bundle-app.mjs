// The last step of the build of an app, in its folder: replaces its compiled entry points with bundles of the app and everything
// that it imports. Loading a few large files takes a fraction of the time of hundreds of small ones.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.mjs';

// The bundler ends after one build: collecting its garbage is a quarter of its work and frees nothing that is needed.
process.env.GOGC ??= 'off';

const sources = readdirSync('src').filter((name) => name.endsWith('main.ts'));
const { metafile } = await build({
  // The sources, not the compiler's output: that is overwritten, and a second build may run at the same time.
  entryPoints: sources.map((name) => join('src', name)),
  outdir: 'dist',
  ...bundleOptions,
  metafile: true,
});

const chunks = join('dist', 'chunks');
const written = existsSync(chunks) ? readdirSync(chunks).map((name) => join(chunks, name)) : [];
for (const file of written) if (!(file in metafile.outputs)) rmSync(file);

// One such character doubles the memory of its whole file. The bundler escapes strings, but not regular expressions.
for (const file of Object.keys(metafile.outputs)) {
  const [found] = /.{0,40}[^\0-\xff].{0,40}/u.exec(readFileSync(file, 'utf8')) ?? [];
  if (found !== undefined)
    throw new Error(`${file} has a character beyond Latin-1, write it as an escape: ${found}`);
}
