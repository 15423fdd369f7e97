import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh'] as const;
export type Shell = (typeof SHELLS)[number];

/** What can follow a command. */
interface Place {
  /** The words of the command, each after a space; empty for the program itself. */
  readonly path: string;
  readonly candidates: readonly Candidate[];
}

interface Candidate {
  readonly word: string;
  readonly summary: string;
}

/** A script that completes the commands, options and fixed arguments of a program. */
export function completionScript(program: Command, shell: Shell): string {
  const globals = optionsOf(program);
  const places = placesOf(program, '', globals);
  return shell === 'bash' ? bash(program.name(), places) : zsh(program.name(), places);
}

function placesOf(command: Command, path: string, globals: readonly Candidate[]): readonly Place[] {
  const subcommands = command.commands.map((one) => ({
    word: one.name(),
    summary: one.summary() || one.description(),
  }));
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) =>
    argChoices.map((word) => ({ word, summary: '' })),
  );
  const own = path === '' ? globals : [...optionsOf(command), ...globals];
  return [
    { path, candidates: withoutRepetition([...subcommands, ...choices, ...own]) },
    ...command.commands.flatMap((one) => placesOf(one, `${path} ${one.name()}`, globals)),
  ];
}

/** Every command has `--help`. */
const withoutRepetition = (candidates: readonly Candidate[]): readonly Candidate[] =>
  [
    ...new Map(candidates.toReversed().map((candidate) => [candidate.word, candidate])).values(),
  ].toReversed();

const optionsOf = (command: Command): readonly Candidate[] =>
  [...command.createHelp().visibleOptions(command)].flatMap(({ long, description }) =>
    typeof long !== 'string' ? [] : [{ word: long, summary: description }],
  );

/** A pattern for `case` that matches every command. */
const patterns = (places: readonly Place[]): string =>
  places
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(path))
    .join(' | ');

function bash(name: string, places: readonly Place[]): string {
  const cases = places.map(
    ({ path, candidates }) =>
      `    ${quoted(path)}) words=${quoted(candidates.map(({ word }) => word).join(' '))} ;;`,
  );
  return `# Completion of ${name} for bash: source <(${name} completion bash)
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} place='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
      ${patterns(places)}) place="$place $word" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _${name} ${name}
`;
}

function zsh(name: string, places: readonly Place[]): string {
  const cases = places.map(({ path, candidates }) => {
    const described = candidates.map(({ word, summary }) => quoted(describedWord(word, summary)));
    return `    ${quoted(path)}) candidates=(${described.join(' ')}) ;;`;
  });
  return `#compdef ${name}
# Completion of ${name} for zsh: source <(${name} completion zsh), or a file _${name} in a folder of $fpath.
_${name}() {
  local place='' word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      ${patterns(places)}) place="$place $word" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  _describe ${name} candidates
}
if [ "\${funcstack[1]}" = _${name} ]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

/** A colon separates a word from its description. */
const describedWord = (word: string, summary: string): string =>
  summary === '' ? word : `${word.replaceAll(':', '\\:')}:${summary}`;

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
