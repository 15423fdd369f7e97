// What the contracts need of the kernel. The console checks its forms with them, in a browser without the modules of Node.
export { AppError } from './errors/app-error.ts';
export { tryParse } from './json/try-parse.ts';
export { numberOf, WrittenNumber } from './json/written-number.ts';
