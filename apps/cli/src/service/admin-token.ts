import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { CliConfig } from '../config.ts';
import type { CredentialFile } from '../credentials/credential-file.ts';
import { readHeldAddress, type HeldAddress } from './held-address.ts';

interface AdminTokenSource {
  readonly config: CliConfig;
  readonly file: CredentialFile;
  readonly url: string;
}

/** The admin token, and the only base URL that it may be sent to. */
export interface AdminAccess {
  readonly token: string;
  readonly url: string;
  /** Where the token was found, in words. */
  readonly source: string;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const HTTP_PORT = 80;

/** Whether a URL is one of this machine. */
export const isLocal = (url: string): boolean => LOOPBACK.test(new URL(url).hostname);

/**
 * The admin token: from the environment, as stored by `gateway login`, or from a data directory. The user sends the first two
 * to the URL of the command; one that was found goes only to the service that holds the directory.
 */
export async function findAdminAccess({
  config,
  file,
  url,
}: AdminTokenSource): Promise<AdminAccess | undefined> {
  if (config.adminToken !== undefined)
    return { token: config.adminToken, url, source: 'of GATEWAY_ADMIN_TOKEN' };
  const stored = (await file.read()).services[url]?.admin_token;
  if (stored !== undefined) return { token: stored, url, source: 'that gateway login stored' };
  const held = await readHeldAddress(config.dataDir);
  const heldUrl = held && urlAt(held, url);
  const token = heldUrl === undefined ? undefined : await readToken(config.dataDir);
  return token === undefined || heldUrl === undefined
    ? undefined
    : { token, url: heldUrl, source: `in ${config.dataDir}` };
}

/** The URL at an address, as a number: a name may lead to another listener. Undefined for the URL of another service. */
export function urlAt({ host, port }: HeldAddress, given: string): string | undefined {
  const url = new URL(given);
  const named = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'http:' || Number(url.port || HTTP_PORT) !== port || !isLocal(given)) {
    return undefined;
  }
  const isIpv6 = named === '::1' || (named === 'localhost' && host === '::1');
  const wanted = isIpv6 ? '::1' : named === 'localhost' ? '127.0.0.1' : named;
  if (host !== wanted && !(host === '::' || (host === '0.0.0.0' && !isIpv6))) return undefined;
  url.hostname = isIpv6 ? '[::1]' : wanted;
  return url.href.replace(/\/+$/, '');
}

async function readToken(dataDir: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, 'secrets', 'admin-token'), 'utf8').catch(() => '');
  return text.trim() === '' ? undefined : text.trim();
}

/** What to do where no admin token is known for a service. */
export function adminTokenRemedy(url: string): string {
  const store =
    `gateway login --url ${url} --admin-token-stdin < file-with-the-token ` +
    '(secrets/admin-token in the data directory of the service, unless SERVICE_ADMIN_TOKEN sets it there).';
  return isLocal(url)
    ? `For a service that you run on this machine, use the folder with its .data, or set SERVICE_DATA_DIR. Otherwise store the token: ${store}`
    : `Store the token: ${store}`;
}

/** The error of a command that needs the admin token. */
export const adminTokenRequired = (url: string, message: string): CliError =>
  new CliError('admin_token_required', message, adminTokenRemedy(url));
