/**
 * What a page of an earlier build gets for a script that is no longer here: it loads the page of this build. Not more often than
 * every ten seconds, so that a page whose scripts are missing shows an error instead of loading forever.
 */
export const OLD_BUILD_SCRIPT = `const KEY = 'console-reloaded-at';
const last = Number(sessionStorage.getItem(KEY) ?? 0);
if (Date.now() - last > 10000) {
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}
throw new Error('this script belongs to another version of the console');
`;
