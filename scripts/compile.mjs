// The first step of the build of an app or a package, in its folder: writes every file of src without its types to dist. The
// types are checked with the lint, and read from the sources, so that the build needs no compiler that knows them.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { transformSync } from '@swc/core';

for (const file of readdirSync('src', { recursive: true })) {
  if (!file.endsWith('.ts') || file.endsWith('.test.ts') || file.endsWith('.d.ts')) continue;
  const target = join('dist', file.replace(/\.ts$/, '.js'));
  const { code, map } = transformSync(readFileSync(join('src', file), 'utf8'), {
    filename: join('src', file),
    swcrc: false,
    isModule: true,
    sourceMaps: true,
    sourceFileName: join('..', 'src', file),
    jsc: {
      target: 'es2023',
      parser: { syntax: 'typescript' },
      transform: { verbatimModuleSyntax: true },
      rewriteRelativeImportExtensions: true,
      experimental: { keepImportAssertions: true },
    },
  });
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, `${code}//# sourceMappingURL=${basename(target)}.map\n`);
  writeFileSync(`${target}.map`, map);
}
