import { parseArgs } from 'node:util';
import { describeError } from '@model-gateway/kernel';
import type { BundleConfig } from './bundle-list.ts';
import { buildBundleReport, renderBundleReport } from './bundle-report.ts';

/** What `bundle --help` prints. */
export const BUNDLE_USAGE = `Usage: browser-tool bundle [executable or library] [--json]

Lists the shared libraries that a browser needs and those that are shipped with it (BROWSER_BUNDLE_LIBS,
BROWSER_BUNDLE_MANIFEST). Without an argument it looks at the browser that the tool itself would start.

  --json   the report as JSON
  --help   this text

Exit status: 0 when nothing is missing, 1 otherwise, 2 for arguments that make no sense.
`;

const EXIT_COMPLETE = 0;
const EXIT_INCOMPLETE = 1;
const EXIT_USAGE = 2;

interface BundleCommand {
  readonly bundle: BundleConfig;
  /** The file that the tool itself would start or load. */
  readonly findBrowser: () => Promise<string>;
  readonly write: (text: string) => void;
  readonly complain: (text: string) => void;
}

/** Runs the `bundle` subcommand and answers its exit status. */
export async function runBundleCommand(
  args: readonly string[],
  { bundle, findBrowser, write, complain }: BundleCommand,
): Promise<number> {
  const wish = parse(args);
  if ('problem' in wish) {
    complain(`${wish.problem}\n\n${BUNDLE_USAGE}`);
    return EXIT_USAGE;
  }
  if (wish.help) {
    write(BUNDLE_USAGE);
    return EXIT_COMPLETE;
  }
  const report = await buildBundleReport(wish.file ?? (await findBrowser()), bundle);
  write(wish.json ? `${JSON.stringify(report, null, 2)}\n` : renderBundleReport(report));
  return report.complete ? EXIT_COMPLETE : EXIT_INCOMPLETE;
}

type Wish =
  | { readonly problem: string }
  | { readonly help: boolean; readonly json: boolean; readonly file: string | undefined };

function parse(args: readonly string[]): Wish {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    });
    if (positionals.length > 1) return { problem: 'bundle looks at one file at a time.' };
    return { ...values, file: positionals[0] };
  } catch (error) {
    return { problem: describeError(error) };
  }
}
