import { Argument, type Command } from 'commander';
import { completionScript, SHELLS, type Shell } from '../completion/completion-script.ts';
import type { Terminal } from '../terminal.ts';

export function addCompletionCommand(program: Command, { stdout }: Pick<Terminal, 'stdout'>): void {
  program
    .command('completion')
    .summary('print a completion script for your shell')
    .description('Print a script that completes commands and options in your shell.')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  echo 'source <(gateway completion bash)' >> ~/.bashrc
  gateway completion zsh > "\${fpath[1]}/_gateway"`,
    )
    .action((shell: Shell) => {
      stdout.write(completionScript(program, shell));
    });
}
