export type { AppContext } from './app-context.ts';
export { exposeStores } from './expose-stores.ts';
export { openStores } from './open-stores.ts';
export {
  adminSettings,
  secretOrGenerated,
  tokenSettings,
  warnOfShortAdminToken,
} from './process-secrets.ts';
export { runServer } from './run-server.ts';
