/**
 * The SHA-256 of archives by version and platform, such as `158.0.8127.18/linux64`. A build with an entry is installed only from
 * that archive, whatever mirror it comes from; `BROWSER_CHROME_SHA256` goes before an entry. docs/browser-tool.md says how to
 * add one.
 */
export const CHROME_CHECKSUMS: Readonly<Record<string, string>> = {};
