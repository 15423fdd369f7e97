export { createServiceRouter } from './service-router.ts';
export {
  routingSettings,
  servingSettings,
  type RoutingConfig,
  type ServingConfig,
} from './serving-settings.ts';
export { createServing, type Serving } from './serving.ts';
