import type { SecretSearch } from '../run/secret-search.ts';

/** Collects what is wrong with the lines of a log. */
export interface LogWatch {
  readonly onLine: (line: string) => void;
  readonly add: (problem: string) => void;
  readonly take: () => readonly string[];
}

const PROBLEMS_MAX = 20;

export function createLogWatch(secrets: SecretSearch): LogWatch {
  let problems: string[] = [];
  const add = (problem: string): void => {
    if (problems.length < PROBLEMS_MAX) problems.push(problem);
  };
  return {
    add,
    onLine(line) {
      for (const name of secrets.namesIn(line))
        add(`the log contains ${name}: ${line.slice(0, 500)}`);
      // An upstream that failed is logged as an error too; its answer has a code of its own.
      if (/"level":"(error|fatal)"/.test(line) && !line.includes('"type":"AppError"'))
        add(`an error in the log: ${line.slice(0, 1000)}`);
    },
    take() {
      const taken = problems;
      problems = [];
      return taken;
    },
  };
}
