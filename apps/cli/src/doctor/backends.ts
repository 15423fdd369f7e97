import type { CommandContext } from '../command-context.ts';
import { oneLine } from '../output/printable.ts';
import { adminTokenRemedy } from '../service/admin-token.ts';
import type { BackendList, ListedBackend } from '../service/listed-backend.ts';
import { checked, type CheckResult } from './check.ts';

/** Whether the backends serve. */
export async function backendsCheck({ service }: CommandContext): Promise<CheckResult> {
  if ((await service.adminTokenSource()) === undefined) {
    return checked('backends', 'skipped', 'needs the admin token', adminTokenRemedy(service.url));
  }
  const body = (await service.requestAsAdmin({ path: '/api/admin/backends' })) as BackendList;
  return healthCheck(body.backends.health);
}

/** The rule of the backends. */
export function healthCheck(backends: readonly ListedBackend[]): CheckResult {
  if (backends.length === 0) {
    return checked(
      'backends',
      'warning',
      'no backend is registered; only the demo model answers',
      'Add one: gateway backends add openai https://api.openai.com --api-key-env OPENAI_API_KEY',
    );
  }
  const away = backends.filter(({ state }) => state !== 'Healthy');
  const [first] = away;
  if (first === undefined) {
    return checked('backends', 'ok', `${backends.length} of ${backends.length} are healthy`);
  }
  const named = away.map(({ name, state, circuit, reason }) => {
    const why = reason ?? (circuit === 'closed' ? undefined : `circuit ${circuit}`);
    return `${oneLine(name)} is ${state}${why === undefined ? '' : ` (${oneLine(why)})`}`;
  });
  const status = away.length === backends.length ? 'failed' : 'warning';
  return checked(
    'backends',
    status,
    named.join('; '),
    `Run: gateway backends test ${oneLine(first.name)}`,
  );
}
