import type { Environment } from '@model-gateway/kernel';

/** What `${NAME}` in a configuration file stands for. */
export const readFileVariables = (environment: Environment = process.env): Environment =>
  environment;
