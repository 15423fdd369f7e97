export { BinaryFormatError } from './binary-file.ts';
export {
  BundleListError,
  readBundleList,
  type BundleConfig,
  type BundledLibrary,
} from './bundle-list.ts';
export { buildBundleReport, renderBundleReport, type BundleReport } from './bundle-report.ts';
export { collectRuntimeDeps, type RuntimeDep } from './runtime-deps.ts';
export { shipLibraries } from './ship-libraries.ts';
