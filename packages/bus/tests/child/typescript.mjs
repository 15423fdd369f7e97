// Lets a child process of a test run the sources as they are: `node --import ./typescript.mjs …`.
import { register } from 'node:module';

register('../../../../scripts/jest/typescript-loader.mjs', import.meta.url);
