// Renders the help of every command of `gateway`: the reference of the command line.

/**
 * @typedef {{ name(): string, helpInformation(): string, commands: readonly HelpfulCommand[] }} HelpfulCommand
 * @param {HelpfulCommand} program
 * @returns {string}
 */
export function renderCommandLine(program) {
  const sections = commandsOf(program, program.name()).map(({ name, command }) =>
    [`## ${name}`, '', '```text', command.helpInformation().trimEnd(), '```', ''].join('\n'),
  );
  return [
    '# Command line reference',
    '',
    'Generated from the code by `node scripts/reference.mjs`; do not edit. It is what `--help` prints, without the',
    'examples. [The command line](../command-line.md) is the guide.',
    '',
    ...sections,
  ].join('\n');
}

/** The program and its commands; groups only list their commands. */
function commandsOf(command, name) {
  return [
    { name, command },
    ...command.commands.flatMap((one) => commandsOf(one, `${name} ${one.name()}`)),
  ];
}
