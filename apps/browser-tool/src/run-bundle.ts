import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  BinaryFormatError,
  buildBundleReport,
  BundleListError,
  renderBundleReport,
} from '@model-gateway/browser-bundle';
import { describeError, errorCode } from '@model-gateway/kernel';
import { EXIT_FAILED, EXIT_OK, EXIT_USAGE } from './cli.ts';
import { createToolLog, readBrowserToolConfig, readBundleConfig } from './config.ts';
import { resolveBrowser } from './resolve/index.ts';

const USAGE = `Usage: browser-tool bundle [executable or library] [--json]

Lists the shared libraries that a browser needs, and those that are shipped with it (BROWSER_BUNDLE_LIBS,
BROWSER_BUNDLE_MANIFEST). Without an argument it scans the browser that the tool would start.

  --json   the report as JSON
  --help   this text

Exit status: 0 if nothing is missing, 1 if something is, 2 for invalid arguments.
`;

/** Runs the `bundle` subcommand: prints the report and returns the exit status. */
export async function runBundle(args: readonly string[]): Promise<number> {
  const parsed = parse(args);
  if ('problem' in parsed) {
    process.stderr.write(`browser-tool: ${parsed.problem}\n\n${USAGE}`);
    return EXIT_USAGE;
  }
  if (parsed.help) {
    process.stdout.write(USAGE);
    return EXIT_OK;
  }
  const config = readBundleConfig();
  const file =
    parsed.file === undefined ? await findBrowser() : resolve(config.workingDirectory, parsed.file);
  try {
    const report = await buildBundleReport(file, config);
    process.stdout.write(
      parsed.json ? `${JSON.stringify(report, null, 2)}\n` : renderBundleReport(report),
    );
    return report.complete ? EXIT_OK : EXIT_FAILED;
  } catch (error) {
    const isExpected =
      error instanceof BundleListError ||
      error instanceof BinaryFormatError ||
      errorCode(error) !== undefined;
    if (!isExpected) throw error;
    process.stderr.write(`browser-tool: ${file}: ${describeError(error)}\n`);
    return EXIT_FAILED;
  }
}

type BundleArguments =
  | { readonly problem: string }
  | { readonly help: boolean; readonly json: boolean; readonly file: string | undefined };

function parse(args: readonly string[]): BundleArguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    });
    if (positionals.length > 1) return { problem: 'bundle takes one file at a time' };
    return { ...values, file: positionals[0] };
  } catch (error) {
    return { problem: describeError(error) };
  }
}

/** The program or engine library that the tool would start. */
async function findBrowser(): Promise<string> {
  const config = readBrowserToolConfig();
  const found = await resolveBrowser(config.resolve, createToolLog(config));
  return found.kind === 'cdp' ? found.executable : found.library;
}
