import type { BundleConfig } from './bundle/bundle-list.ts';
import { buildBundleReport, type BundleReport as Report } from './bundle/bundle-report.ts';
import { readBundleConfig } from './config.ts';

export { renderBundleReport } from './bundle/bundle-report.ts';
export { collectRuntimeDeps, type RuntimeDep } from './bundle/runtime-deps.ts';
export type { BundleConfig, BundledLibrary } from './bundle/bundle-list.ts';

/** What a browser needs from the machine that it runs on, and what is shipped beside it. */
export type BundleReport = Report;

/** Builds bundle reports; by default the environment lists the libraries to ship. */
export const BundleReport = {
  build: (executable: string, config: BundleConfig = readBundleConfig()): Promise<Report> =>
    buildBundleReport(executable, config),
};
