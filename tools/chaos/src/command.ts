/** Prints one line. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Reads the options of the command line, or prints how to use it and exits. */
export function readOrExit<Options extends { readonly help: boolean }>(
  read: (args: readonly string[]) => Options,
  usage: string,
): Options {
  try {
    const options = read(process.argv.slice(2));
    if (!options.help) return options;
    print(usage);
    return process.exit(0);
  } catch (error) {
    process.stderr.write(`${String(error)}\n\n${usage}`);
    return process.exit(2);
  }
}

/** Aborts at Ctrl-C and SIGTERM, so that the run ends early and stops what it started. */
export function endingEarly(): AbortSignal {
  const leaving = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => {
      print('ending early');
      leaving.abort();
    });
  return leaving.signal;
}
