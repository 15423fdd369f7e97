import { generatedSecret } from '@model-gateway/kernel';
import type { AdminToken } from './banner.ts';

interface AdminTokenConfig {
  readonly adminToken: string | undefined;
  readonly dataDir: string;
}

/** The configured token or a generated one. A new one is shown to a person only: output may also go to a file or a log. */
export async function adminTokenOf(
  { adminToken, dataDir }: AdminTokenConfig,
  isTerminal: boolean,
): Promise<{ readonly value: string; readonly shown: AdminToken }> {
  if (adminToken !== undefined) return { value: adminToken, shown: { kind: 'configured' } };
  const { value, file, created } = await generatedSecret(dataDir, 'admin-token');
  const isShown = created && isTerminal;
  return { value, shown: isShown ? { kind: 'created', file, value } : { kind: 'kept', file } };
}
