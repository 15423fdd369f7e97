export type { AppContext } from './app-context.ts';
export { exposeStores } from './expose-stores.ts';
export { runChildProcess, type ChildBegin } from './children/child-process.ts';
export type { Calls, ProcessLink } from './children/process-link.ts';
export { createSupervisedProcess, type SupervisedProcess } from './children/supervised-process.ts';
export { openStores, type StoresConfig } from './open-stores.ts';
export {
  adminSettings,
  secretOrGenerated,
  tokenSettings,
  warnOfShortAdminToken,
} from './process-secrets.ts';
export { runServer } from './run-server.ts';
