export { servingSettings, type ServingConfig } from './serving-settings.ts';
export { createServing, type Serving } from './serving.ts';
