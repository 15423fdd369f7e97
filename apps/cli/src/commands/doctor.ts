import type { Command } from 'commander';
import { EXIT_FAILED, EXIT_OK } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { accountChecks } from '../doctor/account.ts';
import { apiKeyCheck } from '../doctor/api-key.ts';
import { backendsCheck } from '../doctor/backends.ts';
import { broken, type CheckResult } from '../doctor/check.ts';
import { errorFormCheck } from '../doctor/error-form.ts';
import { clockCheck, credentialsCheck, diskCheck } from '../doctor/machine.ts';
import { managementCheck, reach, storesCheck, tunnelCheck } from '../doctor/surfaces.ts';
import { oneLine } from '../output/printable.ts';
import { toCliError } from '../service/service-errors.ts';

export function addDoctorCommand(program: Command, run: Runner): void {
  program
    .command('doctor')
    .summary('check an installation and say what to do next')
    .description(
      'Check the address and its ports, the stores, the clocks, your sign-in, plan and keys, the key\n' +
        'in GATEWAY_API_KEY, the backends, the GPU nodes, the free disk space and the credentials\n' +
        'file, and say what to do next.\n' +
        'The exit status is 1 if a check failed.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  gateway doctor\n  gateway doctor --url https://gateway.example.com --json',
    )
    .action(run(doctor));
}

async function doctor(context: CommandContext): Promise<Answer> {
  const checks = await runChecks(context);
  const isOk = checks.every(({ status }) => status !== 'failed');
  return {
    json: { url: context.service.url, ok: isOk, checks },
    text: reportText(checks),
    exitStatus: isOk ? EXIT_OK : EXIT_FAILED,
  };
}

async function runChecks(context: CommandContext): Promise<readonly CheckResult[]> {
  const local = Promise.all([diskCheck(context), credentialsCheck(context)]);
  const { result, health, response, exchange } = await reach(context);
  if (health === undefined || response === undefined || exchange === undefined) {
    return [result, ...(await local)];
  }
  const remote = await Promise.all([
    guarded(context, 'management', async () => [await managementCheck(context)]),
    guarded(context, 'gpu-nodes', async () => [await tunnelCheck(context)]),
    guarded(context, 'sign-in', () => accountChecks(context)),
    guarded(context, 'api-key', async () => [await apiKeyCheck(context)]),
    guarded(context, 'errors', async () => [await errorFormCheck(context)]),
    guarded(context, 'backends', async () => [await backendsCheck(context)]),
  ]);
  const clock = clockCheck(response.headers.get('date'), exchange);
  return [result, storesCheck(health), clock, ...remote.flat(), ...(await local)];
}

/** A check that throws has failed, and the others go on. */
async function guarded(
  { service }: CommandContext,
  name: string,
  run: () => Promise<readonly CheckResult[]>,
): Promise<readonly CheckResult[]> {
  try {
    return await run();
  } catch (error) {
    return [broken(name, toCliError(error, service.url))];
  }
}

const STATUS_WIDTH = 9;
const NAME_WIDTH = 13;

function reportText(checks: readonly CheckResult[]): string {
  const lines = checks.flatMap(({ name, status, message, next }) => [
    `${status.padEnd(STATUS_WIDTH)}${name.padEnd(NAME_WIDTH)}${oneLine(message)}`,
    ...(next === null ? [] : [`${' '.repeat(STATUS_WIDTH + NAME_WIDTH)}→ ${oneLine(next)}`]),
  ]);
  const failed = checks.filter(({ status }) => status === 'failed').length;
  const warnings = checks.filter(({ status }) => status === 'warning').length;
  const sum =
    failed + warnings === 0
      ? 'Everything is in order.'
      : `${failed} failed, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`;
  return [...lines, '', sum].join('\n');
}
