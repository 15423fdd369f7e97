// `npm run chaos`: runs the TypeScript sources of this folder against the built apps.
import { register } from 'node:module';
import { ensureBuilt, ensureToolchain } from '../../scripts/bootstrap.mjs';

await ensureToolchain();
await ensureBuilt();
register('../../scripts/jest/typescript-loader.mjs', import.meta.url);
await import('./src/main.ts');
