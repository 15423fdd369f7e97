// Lets Node run the sources of apps and packages as they are.
import { register } from 'node:module';

register('../../../scripts/jest/typescript-loader.mjs', import.meta.url);
