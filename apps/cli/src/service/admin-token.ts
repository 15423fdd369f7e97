import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { CliConfig } from '../config.ts';
import type { CredentialFile } from '../credentials/credential-file.ts';

interface AdminTokenSource {
  readonly config: CliConfig;
  readonly file: CredentialFile;
  readonly url: string;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether a URL is one of this machine. */
export const isLocal = (url: string): boolean => LOOPBACK.test(new URL(url).hostname);

/**
 * The admin token: from the environment, as stored by `gateway login`, or, for a service on this machine, from its data
 * directory.
 */
export async function findAdminToken({
  config,
  file,
  url,
}: AdminTokenSource): Promise<string | undefined> {
  if (config.adminToken !== undefined) return config.adminToken;
  const stored = (await file.read()).services[url]?.admin_token;
  if (stored !== undefined || !isLocal(url)) return stored;
  const kept = await readFile(join(config.dataDir, 'secrets', 'admin-token'), 'utf8').catch(
    () => '',
  );
  return kept.trim() === '' ? undefined : kept.trim();
}

/** The error of a command that needs the admin token. */
export const adminTokenRequired = (url: string, message: string): CliError =>
  new CliError(
    'admin_token_required',
    message,
    `Store it: gateway login --url ${url} --admin-token-stdin < .data/secrets/admin-token ` +
      '(in the data directory of the service, unless SERVICE_ADMIN_TOKEN sets it there).',
  );
