import type { UserStore } from '@model-gateway/accounts';
import { isLoopback } from '@model-gateway/http';
import type { Log } from '@model-gateway/kernel';
import type { RpcConfig } from './config.ts';

const WARNINGS = {
  anyone:
    'WARNING: this server can be reached from other machines, registration is open and there is no account: the first to register becomes the platform admin. Register your account now, or set SERVICE_FIRST_ADMIN=token or SERVICE_REGISTRATION_OPEN=false',
  token:
    'WARNING: this server can be reached from other machines, registration is open and there is no account. Register the platform admin with auth.register and the admin token as bearer',
} as const satisfies Record<RpcConfig['firstAdmin'], string>;

/** Warns while an anonymous client could register the first account. */
export async function warnAboutFirstAccount(
  { host, registrationOpen, firstAdmin }: RpcConfig,
  users: Pick<UserStore, 'isEmpty'>,
  log: Log,
): Promise<void> {
  if (!registrationOpen || isLoopback(host)) return;
  try {
    if (await users.isEmpty()) log.warn({ host }, WARNINGS[firstAdmin]);
  } catch (error) {
    log.warn({ error }, 'checking whether there is an account failed');
  }
}
