import { RpcCallError } from '@model-gateway/client';
import type { RpcInput, RpcMethodName } from '@model-gateway/contracts';
import { InvalidArgumentError, type Command } from 'commander';
import { CliError } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';

const METHOD_NOT_FOUND = -32_601;

export function addRpcCommand(program: Command, run: Runner): void {
  program
    .command('rpc')
    .summary('call a method of the management API')
    .description(
      'Call a method of the management API as the signed-in user, and print its result as JSON.\n' +
        '/docs/rpc of the service lists all methods.',
    )
    .argument('<method>', 'for example group.list')
    .argument('[params]', 'a JSON object', jsonObject, {})
    .option('--admin', 'call it with the admin token')
    .addHelpText('after', `\nExample:\n  gateway rpc group.create '{"name": "research"}'`)
    .action(run(callMethod));
}

function jsonObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below, like any other text that is not an object.
  }
  throw new InvalidArgumentError('params must be a JSON object.');
}

async function callMethod(
  { service }: CommandContext,
  name: string,
  params: object,
  { admin }: { readonly admin?: true },
): Promise<Answer> {
  const method = name as RpcMethodName;
  const input = params as RpcInput<RpcMethodName>;
  try {
    const result: unknown = await (admin === true
      ? service.callAsAdmin(method, input)
      : service.call(method, input));
    return { json: { result }, text: JSON.stringify(result, undefined, 2) };
  } catch (error) {
    if (!(error instanceof RpcCallError) || error.code !== METHOD_NOT_FOUND) throw error;
    const next = `The methods are listed at ${service.url}/docs/rpc.`;
    throw new CliError('not_found', `there is no method ${JSON.stringify(name)}`, next, error);
  }
}
