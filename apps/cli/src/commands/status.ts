import type { Command } from 'commander';
import { EXIT_FAILED, EXIT_OK } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { count, duration } from '../output/format.ts';
import { oneLine } from '../output/printable.ts';
import { isObject } from '../service/rest.ts';

export function addStatusCommands(program: Command, run: Runner): void {
  program
    .command('whoami')
    .summary('show the account that you are signed in with')
    .description('Show the account that you are signed in with, its role and its tier.')
    .addHelpText('after', '\nExample:\n  gateway whoami')
    .action(run(whoAmI));
  program
    .command('status')
    .summary('show what runs, in a few lines')
    .description(
      'Show the version of the service, its stores, models and requests. The exit status is 1 if it is\n' +
        'degraded. `gateway doctor` looks closer and says what to do.',
    )
    .addHelpText('after', '\nExamples:\n  gateway status\n  gateway status --json')
    .action(run(showStatus));
}

async function whoAmI({ service }: CommandContext): Promise<Answer> {
  const [user, { current_tier }] = await Promise.all([
    service.call('auth.me', {}),
    service.call('billing.plan', {}),
  ]);
  const role = user.is_admin ? ', an admin' : '';
  return {
    json: { url: service.url, user, tier: current_tier },
    text: `${oneLine(user.email)}${role}, on the tier ${oneLine(current_tier)}, at ${service.url}`,
  };
}

async function showStatus({ service, signal }: CommandContext): Promise<Answer> {
  const system = await service.anonymous.call('system.status', {}, { signal });
  const { body } = await service.probe('/v1/health');
  const health = isObject(body) ? body : {};
  const isOk = health['status'] === 'ok';
  const uptimeMs = system.uptime_seconds * 1000;
  const checks = isObject(health['checks']) ? Object.entries(health['checks']) : [];
  return {
    json: { url: service.url, health, system },
    text: [
      `Service   ${service.url}, version ${oneLine(String(health['version']))}, up for ${duration(uptimeMs)}`,
      `Health    ${oneLine(String(health['status']))}${checks.map(([name, state]) => `, ${oneLine(`${name} ${String(state)}`)}`).join('')}`,
      `Models    ${oneLine(String(health['models']))} of your backends, GPU nodes online: ${count(system.agents_online)}`,
      `Requests  ${count(system.requests_total)} since the start, ${count(system.requests_per_minute)} in the last minute`,
    ].join('\n'),
    ...(isOk ? {} : { note: 'Find out why: gateway doctor' }),
    exitStatus: isOk ? EXIT_OK : EXIT_FAILED,
  };
}
