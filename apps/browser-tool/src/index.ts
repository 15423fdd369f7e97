import {
  buildBundleReport,
  type BundleConfig,
  type BundleReport as Report,
} from '@model-gateway/browser-bundle';
import { readBundleConfig } from './config.ts';

export {
  collectRuntimeDeps,
  renderBundleReport,
  type BundleConfig,
  type BundledLibrary,
  type RuntimeDep,
} from '@model-gateway/browser-bundle';

/** What a browser needs from the machine that it runs on, and what is shipped beside it. */
export type BundleReport = Report;

/** Builds bundle reports; by default the environment lists the libraries to ship. */
export const BundleReport = {
  build: (executable: string, config: BundleConfig = readBundleConfig()): Promise<Report> =>
    buildBundleReport(executable, config),
};
