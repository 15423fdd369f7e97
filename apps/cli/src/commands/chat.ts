import { RpcCallError } from '@model-gateway/client';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import type { Answer, CommandContext, Runner } from '../command-context.ts';
import { runTurn, type ChatMessage, type TurnResult } from '../service/chat-turn.ts';
import { count, duration, usd } from '../output/format.ts';
import { oneLine, printable } from '../output/printable.ts';
import { ask, readStdin } from '../terminal.ts';
import { decimalNumber, wholeNumber } from './arguments.ts';

const MAX_TOKENS_MAX = 10_000_000;
const TEMPERATURE_MAX = 2;

interface ChatOptions {
  readonly system?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
}

export function addChatCommand(program: Command, run: Runner): void {
  program
    .command('chat')
    .summary('ask a model; the reply is streamed')
    .description(
      'Ask a model and print its reply as it arrives. Tokens, times and cost follow on standard error.\n' +
        'Without a prompt it reads standard input; on a terminal it holds a conversation (Ctrl-D ends it).',
    )
    .argument('<model>', 'a model or alias; `gateway models` lists them')
    .argument('[prompt]', 'what to say; `-` reads standard input')
    .option('--system <text>', 'the system message')
    .option(
      '--max-tokens <tokens>',
      'the longest reply',
      wholeNumber('--max-tokens', 1, MAX_TOKENS_MAX),
    )
    .option(
      '--temperature <number>',
      'how varied the reply is',
      decimalNumber('--temperature', 0, TEMPERATURE_MAX),
    )
    .addHelpText(
      'after',
      `
Examples:
  gateway chat demo-chat "Hello!"
  git diff | gateway chat gpt-4o-mini --system "Write a commit message."
  gateway chat demo-chat "Hello!" --json`,
    )
    .action(run(chat));
}

async function chat(
  context: CommandContext,
  model: string,
  prompt: string | undefined,
  options: ChatOptions,
): Promise<Answer | undefined> {
  const { terminal, isJson } = context;
  const isConversation = prompt === undefined && terminal.stdin.isTTY === true;
  if (isConversation && isJson) {
    throw new CliError('usage', 'a prompt is missing', `gateway chat ${model} "…" --json`);
  }
  if (isConversation) return converse(context, model, options);
  const said = prompt === undefined || prompt === '-' ? await readStdin(terminal) : prompt;
  if (said.trim() === '') {
    throw new CliError('usage', 'the prompt is empty', `gateway chat ${model} "Hello!"`);
  }
  const result = await turn(context, model, [...opening(options), userMessage(said)], options);
  return isJson ? { json: result, text: '' } : undefined;
}

/** One turn after another, until the end of the input. */
async function converse(
  context: CommandContext,
  model: string,
  options: ChatOptions,
): Promise<undefined> {
  const messages = opening(options);
  for (;;) {
    const said = await ask(context.terminal, '> ').catch((error: unknown) => {
      if (error instanceof CliError && error.code === 'interrupted') return undefined;
      throw error;
    });
    if (said === undefined) return undefined;
    if (said.trim() === '') continue;
    messages.push(userMessage(said));
    const { content } = await turn(context, model, messages, options);
    messages.push({ role: 'assistant', content });
  }
}

async function turn(
  { service, terminal, isJson, signal }: CommandContext,
  model: string,
  messages: readonly ChatMessage[],
  { maxTokens, temperature }: ChatOptions,
): Promise<TurnResult> {
  const { stdout, stderr } = terminal;
  const result = await runTurn(service, {
    model,
    messages: [...messages],
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    signal,
    onToken: (token) => {
      if (!isJson) stdout.write(printable(token));
    },
  }).catch((error: unknown) => {
    throw isUnknownModel(error) ? unknownModel(model, error.message) : error;
  });
  if (isJson) return result;
  if (!result.content.endsWith('\n')) stdout.write('\n');
  stderr.write(`${summary(result)}\n`);
  return result;
}

/** The management plane has one code for all refusals of a chat. */
const isUnknownModel = (error: unknown): error is RpcCallError =>
  error instanceof RpcCallError && /available for model|no backend serves/i.test(error.message);

const unknownModel = (model: string, message: string): CliError =>
  new CliError(
    'not_found',
    message,
    `List the models that can be used: gateway models. If a backend should serve ${JSON.stringify(model)}, check it: gateway doctor`,
  );

/** What a turn took and cost, in one line. */
function summary(result: TurnResult): string {
  const { model, usage, upstream, first_token_ms, total_ms, usage_id, cost_usd, finish_reason } =
    result;
  const cost =
    usage_id === null
      ? 'not recorded yet, see `gateway usage`'
      : cost_usd === null
        ? 'the model has no price'
        : usd(cost_usd);
  return [
    `${oneLine(model)}: ${count(usage.prompt_tokens)} prompt and ${count(usage.completion_tokens)} completion tokens${upstream === null ? '' : ` from ${oneLine(upstream)}`}`,
    `first token ${first_token_ms === null ? '-' : duration(first_token_ms)}`,
    `total ${duration(total_ms)}`,
    `cost: ${cost}`,
    ...(finish_reason === null || finish_reason === 'stop'
      ? []
      : [`ended by ${oneLine(finish_reason)}`]),
  ].join(', ');
}

const userMessage = (content: string): ChatMessage => ({ role: 'user', content });

const opening = ({ system }: ChatOptions): ChatMessage[] =>
  system === undefined ? [] : [{ role: 'system', content: system }];
