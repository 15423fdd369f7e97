import {
  createSequence,
  describeError,
  StartupError,
  startupError,
  type Environment,
} from '@model-gateway/kernel';
import { planLines } from '../plan.ts';
import {
  problemLine,
  readConfigFile,
  type ConfigProblem,
  type ValidConfig,
} from '../read-config-file.ts';
import { applyEntries, type ApplyContext } from './apply-entries.ts';
import { createCheckEntry } from './check-entry.ts';
import type { EntryRules } from './entry-rules.ts';
import { problemsIn } from './wrong-entries.ts';

interface ConfigFileOptions {
  /** Undefined without a configuration file. */
  readonly file: string | undefined;
  readonly environment: Environment;
  readonly rules: EntryRules;
  readonly readText: (path: string) => Promise<string>;
}

/** The configuration file of the installation: applied at the start, and again for each SIGHUP. */
export interface ConfigFile {
  /** Rejects with a StartupError for a file that is wrong. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createConfigFile(
  { file, environment, rules, readText }: ConfigFileOptions,
  context: ApplyContext & {
    /** Calls a listener for each SIGHUP. */
    readonly onHangUp?: ((listener: () => void) => () => void) | undefined;
  },
): ConfigFile {
  const { log, onHangUp } = context;
  const check = createCheckEntry(rules);
  const applications = createSequence();
  let stopListening: (() => void) | undefined;

  async function apply(path: string): Promise<void> {
    const text = await readText(path).catch((error: unknown) => {
      throw startupError(
        'config_file_unreadable',
        { file: path, reason: describeError(error) },
        error,
      );
    });
    const read = validIn(text, path, { environment, check });
    const planned = await applyEntries(read.entries, rules, context).catch((error: unknown) => {
      throw wrongFile(path, problemsIn(read, error));
    });
    const summary = planLines(planned).at(-1);
    log.info({ file: path, summary }, 'the configuration file is applied');
  }

  async function reload(path: string): Promise<void> {
    try {
      await applications.run(() => apply(path));
    } catch (error) {
      log.error(
        { file: path, reason: describeError(error) },
        'the configuration file was not applied; what was applied before stays',
      );
    }
  }

  return {
    async start() {
      if (file === undefined) return;
      await apply(file).catch((error: unknown) => {
        if (error instanceof StartupError) throw error;
        throw startupError('config_file_refused', { file, reason: describeError(error) }, error);
      });
      stopListening = onHangUp?.(() => void reload(file));
    },
    async stop() {
      stopListening?.();
      // An application in progress is finished first.
      await applications.run(() => Promise.resolve());
    },
  };
}

/** Throws a StartupError that names every line and field that is wrong. */
function validIn(
  text: string,
  file: string,
  options: Parameters<typeof readConfigFile>[1],
): ValidConfig {
  const read = readConfigFile(text, options);
  if (read.problems === undefined) return read;
  throw wrongFile(file, read.problems);
}

const wrongFile = (file: string, problems: readonly ConfigProblem[]): StartupError =>
  startupError('config_file_wrong', { file, problems: problems.map(problemLine).join('; ') });
